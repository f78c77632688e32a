// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * connect, send and bind of INET and INET6 sockets (BPF_PROG_TYPE_CGROUP_SOCK_ADDR).
 *
 * A refusal is EPERM. The kernel does not call these for a connect to AF_UNSPEC, which only undoes a connect,
 * nor for a send on a connected UDP socket, whose connect was judged and whose packets packet.bpf.c judges again.
 * The family in the address is not trusted: sendto(2) on an IPv4 socket takes AF_UNSPEC for AF_INET.
 */
#include "network.h"

INLINE int judge_address(struct bpf_sock_addr *ctx, struct address address, __u32 verb, __u8 hook)
{
	struct subject subject = current_subject();
	__u16 port = ctx->user_port;
	__u8 protocol = ctx->protocol;
	__u32 slot = (protocol == PROTOCOL_UDP) * 2 + verb;
	__u32 rule = 0;
	bool allowed;

	if (!subject.is_run)
		return 0;
	if (hook != HOOK_BIND)
		as_destination(&address);
	allowed = (protocol == PROTOCOL_TCP || protocol == PROTOCOL_UDP) &&
		  judge(&subject, slot, &address, port, &rule);
	if (allowed && hook == HOOK_BIND && protocol == PROTOCOL_TCP)
		allowed = remember_bind(ctx->sk, &address, port);
	if (allowed && hook != HOOK_BIND)
		remember_fact(fact_of(&subject, slot, &address, port));
	if (!allowed || subject.flags & (hook == HOOK_BIND ? RECORD_BIND : RECORD_CONNECT))
		record_network(&subject, 1, hook, allowed, rule, protocol, &address, port);
	return allowed;
}

#define ADDRESS4(ctx) ipv4((ctx)->user_ip4)
#define ADDRESS6(ctx) ipv6((ctx)->user_ip6[0], (ctx)->user_ip6[1], (ctx)->user_ip6[2], (ctx)->user_ip6[3])

SEC("cgroup/connect4")
int connect4(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, ADDRESS4(ctx), 0, HOOK_CONNECT);
}

SEC("cgroup/connect6")
int connect6(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, ADDRESS6(ctx), 0, HOOK_CONNECT);
}

SEC("cgroup/sendmsg4")
int sendmsg4(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, ADDRESS4(ctx), 0, HOOK_SEND);
}

SEC("cgroup/sendmsg6")
int sendmsg6(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, ADDRESS6(ctx), 0, HOOK_SEND);
}

SEC("cgroup/bind4")
int bind4(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, ADDRESS4(ctx), 1, HOOK_BIND);
}

SEC("cgroup/bind6")
int bind6(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, ADDRESS6(ctx), 1, HOOK_BIND);
}
