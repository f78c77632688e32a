// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Packets of a run's sockets (BPF_PROG_TYPE_CGROUP_SKB), behind the address programs.
 *
 * Leaving: a TCP connection request and every UDP datagram must go where a connect is allowed, by the tables of
 * now; this is what still holds after a policy was replaced, or when the kernel rewrote the address. Other
 * protocols, routing headers (which name a further destination) and later fragments do not leave: a run has no
 * socket that makes them.
 *
 * Arriving: a TCP connection request must be for a socket whose bind is allowed. listen(2) without bind(2) takes
 * a free port on every address without asking the bind programs, so it is judged as a bind to port 0.
 *
 * Segments of a connection that exists pass unlooked: both ends' requests were judged, and a run that has ended
 * may still close its connections in good order.
 */
#include "network.h"

struct packet {
	struct address from, to;
	__u16 from_port, to_port;  /* network byte order */
	__u8 protocol;
	bool is_request;           /* TCP: SYN without ACK */
	bool is_ipv4;
};

enum { HOP_BY_HOP = 0, DESTINATION_OPTIONS = 60, EXTENSIONS_MAX = 4 };

/* Where the transport header is, or a negative number. */
INLINE int transport(struct __sk_buff *skb, struct packet *packet)
{
	if (skb->protocol == be16(ETHERTYPE_IPV4)) {
		struct { __u8 version_len, tos; __u16 len, id, fragment; __u8 ttl, protocol; __u16 sum; __u32 from, to; } ip;

		if (skb_load_bytes(skb, 0, &ip, sizeof(ip)) || ip.fragment & be16(0x1fff))
			return -1;
		packet->is_ipv4 = 1;
		packet->protocol = ip.protocol;
		packet->from = ipv4(ip.from);
		packet->to = ipv4(ip.to);
		return (ip.version_len & 15) * 4;
	}
	if (skb->protocol == be16(ETHERTYPE_IPV6)) {
		struct { __u32 first; __u16 len; __u8 next, hops; __u32 from[4], to[4]; } ip;
		int at = sizeof(ip);

		if (skb_load_bytes(skb, 0, &ip, sizeof(ip)))
			return -1;
		packet->protocol = ip.next;
		packet->from = ipv6(ip.from[0], ip.from[1], ip.from[2], ip.from[3]);
		packet->to = ipv6(ip.to[0], ip.to[1], ip.to[2], ip.to[3]);
#pragma unroll
		for (int i = 0; i < EXTENSIONS_MAX; i++) {
			struct { __u8 next, len; } option;

			if (packet->protocol != HOP_BY_HOP && packet->protocol != DESTINATION_OPTIONS)
				break;
			if (skb_load_bytes(skb, at, &option, sizeof(option)))
				return -1;
			packet->protocol = option.next;
			at += (option.len + 1) * 8;
		}
		return at;
	}
	return -1;
}

INLINE bool parse_any(struct __sk_buff *skb, struct packet *packet)
{
	int at = transport(skb, packet);
	__u16 ports[2];

	if (at < 0)
		return 0;
	if (packet->protocol == PROTOCOL_TCP) {
		__u8 flags;

		if (skb_load_bytes(skb, at + 13, &flags, sizeof(flags)))
			return 0;
		packet->is_request = (flags & 0x12) == 0x02;
		if (!packet->is_request)
			return 1;
	} else if (packet->protocol != PROTOCOL_UDP) {
		return 1;
	}
	if (skb_load_bytes(skb, at, ports, sizeof(ports)))
		return 0;
	packet->from_port = ports[0];
	packet->to_port = ports[1];
	return 1;
}

/*
 * TCP or UDP over IPv4 in the usual form: no options, no fragment, headers in one piece. What is not told here is
 * taken apart with more care.
 */
INLINE bool parse_ordinary(struct __sk_buff *skb, struct packet *packet)
{
	__u8 *at = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	if (at + 20 + 8 > end || at[0] != 0x45 || at[6] & 0x3f || at[7])
		return 0;
	packet->protocol = at[9];
	if (packet->protocol == PROTOCOL_TCP) {
		if (at + 20 + 20 > end)
			return 0;
		packet->is_request = (at[20 + 13] & 0x12) == 0x02;
	} else if (packet->protocol != PROTOCOL_UDP) {
		return 0;
	}
	packet->is_ipv4 = 1;
	packet->from = ipv4(*(__u32 *)(at + 12));
	packet->to = ipv4(*(__u32 *)(at + 16));
	packet->from_port = *(__u16 *)(at + 20);
	packet->to_port = *(__u16 *)(at + 22);
	return 1;
}

INLINE bool parse(struct __sk_buff *skb, struct packet *packet)
{
	return parse_ordinary(skb, packet) || parse_any(skb, packet);
}

/*
 * Whether this is a segment of a connection that exists, in the usual form: no options, headers in one piece. All
 * but a few packets of a run are, so they are told by a few bytes; what is not told here is parsed.
 */
INLINE bool is_ordinary_segment(struct __sk_buff *skb)
{
	__u8 *at = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	if (at + 40 > end)
		return 0;
	if (at[0] == 0x45)
		return at[9] == PROTOCOL_TCP && !(at[6] & 0x1f) && !at[7] && (at[20 + 13] & 0x12) != 0x02;
	if (at + 60 > end)
		return 0;
	return at[0] >> 4 == 6 && at[6] == PROTOCOL_TCP && (at[40 + 13] & 0x12) != 0x02;
}

SEC("cgroup_skb/egress")
int egress(struct __sk_buff *skb)
{
	struct packet packet = { .to = { .family = 4 } };
	struct subject subject;
	__u32 slot, rule = 0;
	bool parsed;

	if (is_ordinary_segment(skb))
		return 1;
	parsed = parse(skb, &packet);
	if (parsed && packet.protocol == PROTOCOL_TCP && !packet.is_request)
		return 1;
	subject = subject_of(skb_ancestor_cgroup_id(skb, run_level));
	if (!subject.is_run)
		return 0;
	as_destination(&packet.to);
	slot = packet.protocol == PROTOCOL_UDP ? SLOT_UDP_CONNECT : SLOT_TCP_CONNECT;
	if (parsed && (packet.protocol == PROTOCOL_TCP || packet.protocol == PROTOCOL_UDP) &&
	    (is_fact(fact_of(&subject, slot, &packet.to, packet.to_port)) ||
	     judge(&subject, slot, &packet.to, packet.to_port, &rule)))
		return 1;
	record_network(&subject, 0, HOOK_EGRESS, 0, rule, packet.protocol, &packet.to, packet.to_port);
	return 0;
}

/* The bind that made this socket listen. */
INLINE struct bound listening(struct bpf_sock *sk, bool is_ipv4)
{
	struct address local = sk->family == FAMILY_INET ?
		ipv4(sk->src_ip4) : ipv6(sk->src_ip6[0], sk->src_ip6[1], sk->src_ip6[2], sk->src_ip6[3]);
	__u16 port = be16(sk->src_port);
	struct bound *asked = sk_storage_get(&bounds, sk, NULL, 0);
	struct bound bound = { .address = local };

	/* Not what was allowed: that bind failed, and listen(2) chose for itself. */
	if (asked && (asked->port == port || asked->port == 0) && asked->address.family == local.family &&
	    asked->address.words[0] == local.words[0] && asked->address.words[1] == local.words[1] &&
	    asked->address.words[2] == local.words[2] && asked->address.words[3] == local.words[3])
		bound.port = asked->port;
	/* An IPv6 socket on every address takes IPv4 connections too: that is a bind to 0.0.0.0. */
	if (is_ipv4 && is_unspecified(&bound.address))
		bound.address.family = 4;
	return bound;
}

SEC("cgroup_skb/ingress")
int ingress(struct __sk_buff *skb)
{
	struct packet packet = { .to = { .family = 4 } };
	struct bpf_sock *sk = skb->sk;
	struct subject subject;
	struct bound bound;
	__u32 rule = 0;
	bool parsed;

	if (is_ordinary_segment(skb))
		return 1;
	parsed = parse(skb, &packet);
	if (parsed && (packet.protocol == PROTOCOL_UDP || (packet.protocol == PROTOCOL_TCP && !packet.is_request)))
		return 1;
	subject = subject_of(skb_ancestor_cgroup_id(skb, run_level));
	if (!subject.is_run)
		return 0;
	if (packet.is_request && sk) {
		bound = listening(sk, packet.is_ipv4);
		if (judge(&subject, SLOT_TCP_BIND, &bound.address, bound.port, &rule))
			return 1;
	}
	record_network(&subject, 0, HOOK_INGRESS, 0, rule, packet.protocol, &packet.to, packet.to_port);
	return 0;
}
