// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Creation of sockets (BPF_CGROUP_INET_SOCK_CREATE): TCP streams and UDP datagrams over IPv4 and IPv6, nothing
 * else. Raw, ICMP, SCTP, MPTCP and UDP-Lite sockets would reach the network past the other programs. The kernel
 * asks only for INET and INET6; other families are the system call filter's.
 */
#include "network.h"

SEC("cgroup/sock_create")
int sock_create(struct bpf_sock *ctx)
{
	struct subject subject = current_subject();
	struct network_event event = { .hook = HOOK_CREATE };
	__u32 family = ctx->family, type = ctx->type, protocol = ctx->protocol;

	if (!subject.is_run)
		return 0;
	if ((family == FAMILY_INET || family == FAMILY_INET6) &&
	    ((type == TYPE_STREAM && protocol == PROTOCOL_TCP) ||
	     (type == TYPE_DATAGRAM && protocol == PROTOCOL_UDP)))
		return 1;
	event.family = family;
	event.protocol = protocol;
	event.socket_type = type;
	event.socket_protocol = protocol;
	stamp(&event.header, &subject, EVENT_NETWORK, 1);
	deliver(&subject, EVENT_NETWORK, &event, sizeof(event));
	return 0;
}
