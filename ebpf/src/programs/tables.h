/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The maps, and the one way to look a network access up in them. Whatever is not found is refused.
 *
 * Every run shares these maps. A key of the two prefix tables begins with the run's cgroup, which the programs
 * take from the kernel and never from a map: the kernel may hand the memory of a deleted entry to another key
 * while a program still reads it, and then the look-up finds nothing.
 */
#ifndef REMIT_TABLES_H
#define REMIT_TABLES_H

#include "layout.h"

/* Level of a run's cgroup below the root; set before the programs are loaded. Zero finds no run. */
const volatile __u32 run_level = 0;

struct {
	map_uint(type, MAP_HASH);
	map_uint(max_entries, 65536);
	map_uint(map_flags, MAP_NO_PREALLOC);
	map_type(key, __u64);
	map_type(value, struct run);
} runs SEC(".maps");

struct {
	map_uint(type, MAP_LPM_TRIE);
	map_uint(max_entries, 4194304);
	map_uint(map_flags, MAP_NO_PREALLOC);
	map_type(key, struct prefix_key);
	map_type(value, struct prefix_value);
} prefixes SEC(".maps");

struct {
	map_uint(type, MAP_LPM_TRIE);
	map_uint(max_entries, 4194304);
	map_uint(map_flags, MAP_NO_PREALLOC);
	map_type(key, struct port_key);
	map_type(value, struct port_value);
} ports SEC(".maps");

struct {
	map_uint(type, MAP_HASH);
	map_uint(max_entries, 65536);
	map_uint(map_flags, MAP_NO_PREALLOC);
	map_type(key, __u64);
	map_type(value, struct counters);
} counters SEC(".maps");

struct ring {
	map_uint(type, MAP_RINGBUF);
	map_uint(max_entries, 65536);
};

struct {
	map_uint(type, MAP_ARRAY_OF_MAPS);
	map_uint(max_entries, 1024);
	map_type(key, __u32);
	struct ring *values[];
} rings SEC(".maps");

/* An address as it is judged: a family of 4 or 6, IPv4 in the first word, network byte order. */
struct address {
	__u32 family;
	__u32 words[4];
};

INLINE struct address ipv4(__u32 address)
{
	return (struct address){ .family = 4, .words = { address } };
}

/* IPv6, or the IPv4 address that a mapped, NAT64 (64:ff9b::/96) or 6to4 (2002::/16) form carries. */
INLINE struct address ipv6(__u32 a, __u32 b, __u32 c, __u32 d)
{
	if (a == 0 && b == 0 && c == be32(0xffff))
		return ipv4(d);
	if (a == be32(0x0064ff9b) && b == 0 && c == 0)
		return ipv4(d);
	if ((be32(a) >> 16) == 0x2002)
		return ipv4(be32(be32(a) << 16 | be32(b) >> 16));
	return (struct address){ .family = 6, .words = { a, b, c, d } };
}

INLINE bool is_unspecified(const struct address *address)
{
	return (address->words[0] | address->words[1] | address->words[2] | address->words[3]) == 0;
}

/* As a destination, the unspecified address is this machine. */
INLINE void as_destination(struct address *to)
{
	if (!is_unspecified(to))
		return;
	if (to->family == 4)
		to->words[0] = be32(0x7f000001);
	else
		to->words[3] = be32(1);
}

/* A run that is asking: its cgroup and its entry, copied. */
struct subject {
	__u64 cgroup;
	__u32 generation;
	__u32 flags;
	__u32 ring;
	bool is_run;
};

INLINE struct subject subject_of(__u64 cgroup)
{
	struct subject subject = { .cgroup = cgroup };
	struct run *run = map_lookup(&runs, &subject.cgroup);

	if (run) {
		subject.generation = run->generation;
		subject.flags = run->flags;
		subject.ring = run->ring;
		subject.is_run = 1;
	}
	return subject;
}

INLINE struct subject current_subject(void)
{
	return subject_of(current_ancestor_cgroup_id(run_level));
}

/* Decides, and names the rule. `port` is in network byte order. */
INLINE bool judge(const struct subject *subject, __u32 slot, const struct address *address, __u16 port, __u32 *rule)
{
	struct prefix_key key = {
		.prefix_len = address->family == 4 ? KEY_BITS + 32 : KEY_BITS + 128,
		.generation = subject->generation,
		.family = address->family,
		.address = { address->words[0], address->words[1], address->words[2], address->words[3] },
	};
	struct port_key port_key = {
		.prefix_len = KEY_BITS + 16,
		.generation = subject->generation,
		.port = port,
	};
	struct prefix_value *prefix;
	struct port_value *value;

	*rule = 0;
	__builtin_memcpy(key.cgroup, &subject->cgroup, sizeof(key.cgroup));
	prefix = map_lookup(&prefixes, &key);
	if (!prefix)
		return 0;
	port_key.list = prefix->lists[slot & 3];
	if (port_key.list == NO_LIST)
		return 0;
	__builtin_memcpy(port_key.cgroup, &subject->cgroup, sizeof(port_key.cgroup));
	value = map_lookup(&ports, &port_key);
	if (!value)
		return 0;
	*rule = value->rule;
	return value->allow == 1;
}

#endif
