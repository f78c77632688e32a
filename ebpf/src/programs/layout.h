/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Layouts shared with user space; ../layout.rs declares the same and says what each field means. Both sides
 * assert sizes and offsets.
 */
#ifndef REMIT_LAYOUT_H
#define REMIT_LAYOUT_H

#include "kernel.h"

struct run {
	__u32 generation;
	__u32 flags;
	__u32 ring;
	__u32 reserved;
};

enum {
	RECORD_EXEC = 1,
	RECORD_CONNECT = 2,
	RECORD_BIND = 4,
};

struct node_key {
	__u64 cgroup;
	__u32 generation;
	__u32 node;
};

#define GROUP_ENTRIES 16
#define NODE_GROUPS 30
#define NODE_FENCES 32

struct group {
	__u32 last[GROUP_ENTRIES];
	__u32 values[GROUP_ENTRIES];
};

struct node {
	__u32 roots[2];
	__u32 reserved[12];
	__u32 fences[NODE_FENCES];
	struct group groups[NODE_GROUPS];
};

enum {
	ROOT_IPV4 = 0,
	ROOT_IPV6 = 1,
	SLOT_TCP_CONNECT = 0,
	SLOT_TCP_BIND = 1,
	SLOT_UDP_CONNECT = 2,
	SLOT_UDP_BIND = 3,
	/* A value: what it is, and of a span its node, first entry and size. */
	VALUE_KIND_SHIFT = 30,
	VALUE_DECISION = 0,
	VALUE_SAME = 1,
	VALUE_WORD = 2,
	VALUE_PORTS = 3,
	DECISION_RULE_SHIFT = 1,
	DECISION_RULE_MASK = 0x1fffffff,
	SPAN_NODE_SHIFT = 15,
	SPAN_NODE_MASK = 0x7fff,
	SPAN_FIRST_SHIFT = 6,
	SPAN_FIRST_MASK = 0x1ff,
	SPAN_GROUPS_SHIFT = 3,
	SPAN_LOG_MASK = 7,
	STEPS_MAX = 16,
};

enum event_kind {
	EVENT_EXEC = 1,
	EVENT_FORK = 2,
	EVENT_EXIT = 3,
	EVENT_NETWORK = 4,
	EVENT_DEVICE = 5,
	EVENT_SYSCTL = 6,
};

struct event_header {
	__u64 time_ns;
	__u64 cgroup;
	__u32 kind;
	__u32 pid;
	__u32 tid;
	__u32 uid;
	char comm[16];
};

struct exec_event {
	struct event_header header;
	__u32 parent;
	__u32 path_len;
};

struct fork_event {
	struct event_header header;
	__u32 child;
	__u32 reserved;
};

struct exit_event {
	struct event_header header;
	__u32 status;
	__u32 reserved;
};

enum network_hook {
	HOOK_CONNECT = 1,
	HOOK_SEND = 2,
	HOOK_BIND = 3,
	HOOK_CREATE = 4,
	HOOK_EGRESS = 5,
	HOOK_INGRESS = 6,
};

struct network_event {
	struct event_header header;
	__u32 rule;
	__u8 allowed;
	__u8 hook;
	__u8 protocol;
	__u8 family;
	__u16 port;
	__u16 socket_type;
	__u16 socket_protocol;
	__u16 reserved;
	__u32 address[4];
};

struct device_event {
	struct event_header header;
	__u32 device_type;
	__u32 major;
	__u32 minor;
	__u32 access;
};

#define SYSCTL_NAME_MAX 64

struct sysctl_event {
	struct event_header header;
	char name[SYSCTL_NAME_MAX];
};

struct counters {
	__u64 seen[8];
	__u64 lost[8];
};

#define ASSERT_SIZE(name, size) _Static_assert(sizeof(struct name) == (size), #name)
#define ASSERT_FIELD(name, field, offset) _Static_assert(offset_of(struct name, field) == (offset), #name "." #field)

ASSERT_SIZE(run, 16);
ASSERT_FIELD(run, flags, 4);
ASSERT_FIELD(run, ring, 8);
ASSERT_SIZE(node_key, 16);
ASSERT_FIELD(node_key, generation, 8);
ASSERT_FIELD(node_key, node, 12);
ASSERT_SIZE(group, 128);
ASSERT_FIELD(group, values, 64);
ASSERT_SIZE(node, 4024);
ASSERT_FIELD(node, fences, 56);
ASSERT_FIELD(node, groups, 184);
ASSERT_SIZE(event_header, 48);
ASSERT_FIELD(event_header, cgroup, 8);
ASSERT_FIELD(event_header, kind, 16);
ASSERT_FIELD(event_header, pid, 20);
ASSERT_FIELD(event_header, tid, 24);
ASSERT_FIELD(event_header, uid, 28);
ASSERT_FIELD(event_header, comm, 32);
ASSERT_SIZE(exec_event, 56);
ASSERT_FIELD(exec_event, parent, 48);
ASSERT_FIELD(exec_event, path_len, 52);
ASSERT_SIZE(fork_event, 56);
ASSERT_FIELD(fork_event, child, 48);
ASSERT_SIZE(exit_event, 56);
ASSERT_FIELD(exit_event, status, 48);
ASSERT_SIZE(network_event, 80);
ASSERT_FIELD(network_event, rule, 48);
ASSERT_FIELD(network_event, allowed, 52);
ASSERT_FIELD(network_event, hook, 53);
ASSERT_FIELD(network_event, protocol, 54);
ASSERT_FIELD(network_event, family, 55);
ASSERT_FIELD(network_event, port, 56);
ASSERT_FIELD(network_event, socket_type, 58);
ASSERT_FIELD(network_event, socket_protocol, 60);
ASSERT_FIELD(network_event, address, 64);
ASSERT_SIZE(device_event, 64);
ASSERT_FIELD(device_event, device_type, 48);
ASSERT_FIELD(device_event, major, 52);
ASSERT_FIELD(device_event, minor, 56);
ASSERT_FIELD(device_event, access, 60);
ASSERT_SIZE(sysctl_event, 112);
ASSERT_FIELD(sysctl_event, name, 48);
ASSERT_SIZE(counters, 128);
ASSERT_FIELD(counters, lost, 64);

#endif
