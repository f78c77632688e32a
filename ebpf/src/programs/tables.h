/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The maps, and the one way to look a network access up in them. Whatever is not found is refused.
 *
 * Every run shares these maps. The key of a node begins with the run's cgroup, which the programs take from the
 * kernel and never from a map: the kernel may hand the memory of a deleted entry to another key while a program
 * still reads it, and then the look-up finds nothing.
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
	map_uint(type, MAP_HASH);
	map_uint(max_entries, 65536);
	map_uint(map_flags, MAP_NO_PREALLOC);
	map_type(key, struct node_key);
	map_type(value, struct node);
} nodes SEC(".maps");

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

/*
 * Which of `1 << log` intervals from `at` on holds the key: `last` has the last key of each, sorted. There is no
 * branch to guess wrong: a step is taken by a mask. `most` is the largest `log`, and the size of the array.
 */
INLINE __u64 interval_of(const __u32 *last, __u64 at, __u32 log, int most, __u32 key)
{
	__u64 size = 1ULL << log, mask = (1ULL << most) - 1;

#pragma unroll
	for (int halved = 1; halved <= most; halved++) {
		__u64 step = size >> halved;
		__u64 below = last[(at + step - 1) & mask] - (__u64)key;

		/* Kept from the compiler, which would make a branch of it. */
		asm volatile("%0 s>>= 63" : "+r"(below));
		at = (at + (step & below)) & mask;
	}
	return at;
}

/* Searches a span: which of its groups, by their fences, then where in the group. */
INLINE __u32 value_in(const struct node *node, __u32 span, __u32 key)
{
	__u32 first = span >> SPAN_FIRST_SHIFT & SPAN_FIRST_MASK;
	__u64 number = interval_of(node->fences, first / GROUP_ENTRIES, span >> SPAN_GROUPS_SHIFT & SPAN_LOG_MASK, 5, key);
	const struct group *group = &node->groups[number];

	if (number >= NODE_GROUPS)
		return 0;
	return group->values[interval_of(group->last, first % GROUP_ENTRIES, span & SPAN_LOG_MASK, 4, key)];
}

/*
 * The value of the decision. The address is two words in each of `high` and `low`, all in host byte order; an IPv4
 * address is the first.
 *
 * A value leads from span to span (tables.rs in the enforcer builds them): with the same key where a span was
 * too large for a node, with the next word of the address, or with the port, until a value is a decision.
 *
 * A function of its own, and not static: the verifier looks at it once, not again for whatever comes before it.
 */
__attribute__((noinline)) __u32 look_up(__u64 cgroup, __u64 generation_and_root, __u64 high, __u64 low, __u64 port)
{
	struct node_key place = { .cgroup = cgroup, .generation = generation_and_root >> 32 };
	struct node *root = map_lookup(&nodes, &place), *node = root;
	__u32 value;

	if (!root)
		return 0;
	value = root->roots[generation_and_root & 1];
	for (int step = 0; step < STEPS_MAX; step++) {
		__u32 kind = value >> VALUE_KIND_SHIFT, number = value >> SPAN_NODE_SHIFT & SPAN_NODE_MASK;
		__u64 is_ports = kind & (kind >> 1), bits = ((kind >> 1) ^ is_ports) * 32;

		if (kind == VALUE_DECISION)
			return value;
		/* The key is the upper half of `high`: the next word moves there, or the port is put there. */
		high = high << bits | low >> 1 >> (63 - bits);
		low <<= bits;
		high = (high & (is_ports - 1)) | (port << 32 & -is_ports);
		if (number != place.node) {
			place.node = number;
			node = number ? map_lookup(&nodes, &place) : root;
			if (!node)
				return 0;
		}
		value = value_in(node, value, high >> 32);
	}
	return 0;
}

/* Decides, and names the rule. `port` is in network byte order. */
INLINE bool judge(const struct subject *subject, __u32 slot, const struct address *address, __u16 port, __u32 *rule)
{
	__u64 high = (__u64)be32(address->words[0]) << 32 | be32(address->words[1]);
	__u64 low = (__u64)be32(address->words[2]) << 32 | be32(address->words[3]);
	__u32 root = address->family == 4 ? ROOT_IPV4 : ROOT_IPV6;
	__u32 value = look_up(subject->cgroup, (__u64)subject->generation << 32 | root, high, low,
			      slot << 16 | be16(port));

	*rule = value >> DECISION_RULE_SHIFT & DECISION_RULE_MASK;
	return value & 1;
}

#endif
