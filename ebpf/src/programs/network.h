/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the network programs share: their record, what each listening socket was allowed to bind to, and what was
 * just allowed.
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

/*
 * What the address programs have just allowed, for the packet programs, which would otherwise look the same thing
 * up again a microsecond later. A fact is a keyed hash of everything that decided: run, generation, slot, address
 * and port. Tables of a generation never change, so a fact stays true; one word is written at once, so it is never
 * half of another. A collision could only open the second of two checks, and the key is secret.
 */
const volatile __u64 fact_key[3] = {};

#define FACTS 64

struct facts {
	__u64 allowed[FACTS];
};

struct {
	map_uint(type, MAP_PERCPU_ARRAY);
	map_uint(max_entries, 1);
	map_type(key, __u32);
	map_type(value, struct facts);
} facts SEC(".maps");

/* Twice, or a change of the highest bit of a word could be undone by the next without knowing the key. */
INLINE __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * (fact_key[1] | 1);
	hash = (hash ^ hash >> 29) * (fact_key[2] | 1);
	return hash ^ hash >> 32;
}

INLINE __u64 fact_of(const struct subject *subject, __u32 slot, const struct address *address, __u16 port)
{
	__u64 hash = mix(fact_key[0], subject->cgroup);

	hash = mix(hash, (__u64)subject->generation << 32 | (__u32)port << 16 | slot << 8 | address->family);
	hash = mix(hash, (__u64)address->words[0] << 32 | address->words[1]);
	if (address->family == 6)
		hash = mix(hash, (__u64)address->words[2] << 32 | address->words[3]);
	/* Zero is an empty place. */
	return hash | 1;
}

INLINE __u64 *place_of(__u64 fact)
{
	__u32 zero = 0;
	struct facts *known = map_lookup(&facts, &zero);

	return known ? &known->allowed[(fact >> 32) & (FACTS - 1)] : NULL;
}

INLINE void remember_fact(__u64 fact)
{
	__u64 *place = place_of(fact);

	if (place)
		*(volatile __u64 *)place = fact;
}

INLINE bool is_fact(__u64 fact)
{
	__u64 *place = place_of(fact);

	return place && *(volatile __u64 *)place == fact;
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
