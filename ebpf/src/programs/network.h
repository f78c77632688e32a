/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the network programs share: their record, and what each listening socket was allowed to bind to.
 */
#ifndef REMIT_NETWORK_H
#define REMIT_NETWORK_H

#include "record.h"

/* The last bind of a socket that was allowed; it may still have failed afterwards (EADDRINUSE). */
struct bound {
	struct address address;
	__u16 port;                /* network byte order, as asked for: zero lets the kernel choose */
	__u16 reserved;
};

struct {
	map_uint(type, MAP_SK_STORAGE);
	map_uint(map_flags, MAP_NO_PREALLOC);
	map_type(key, int);
	map_type(value, struct bound);
} bounds SEC(".maps");

INLINE bool remember_bind(struct bpf_sock *sk, const struct address *address, __u16 port)
{
	struct bound *bound;

	if (!sk)
		return 0;
	bound = sk_storage_get(&bounds, sk, NULL, STORAGE_CREATE);
	if (!bound)
		return 0;
	bound->address = *address;
	bound->port = port;
	return 1;
}

INLINE void record_network(const struct subject *subject, bool who, __u8 hook, bool allowed, __u32 rule,
			   __u8 protocol, const struct address *address, __u16 port)
{
	struct network_event event = {
		.rule = rule,
		.allowed = allowed,
		.hook = hook,
		.protocol = protocol,
		.family = address->family,
		.port = be16(port),
		.address = { address->words[0], address->words[1], address->words[2], address->words[3] },
	};

	stamp(&event.header, subject, EVENT_NETWORK, who);
	deliver(subject, EVENT_NETWORK, &event, sizeof(event));
}

#endif
