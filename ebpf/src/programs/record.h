/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Writing records into a run's ring. For each kind, seen = delivered + lost: what a full ring (or a ring that is
 * not there) did not take is counted.
 */
#ifndef REMIT_RECORD_H
#define REMIT_RECORD_H

#include "tables.h"

/* `who` says whether the running process is the one that the record is about. */
INLINE void stamp(struct event_header *header, const struct subject *subject, enum event_kind kind, bool who)
{
	header->time_ns = ktime_get_boot_ns();
	header->cgroup = subject->cgroup;
	header->kind = kind;
	if (who) {
		__u64 ids = current_pid_tgid();

		header->pid = ids >> 32;
		header->tid = ids;
		header->uid = current_uid_gid();
		current_comm(header->comm, sizeof(header->comm));
	}
}

INLINE void deliver(const struct subject *subject, enum event_kind kind, void *event, __u64 len)
{
	struct counters *count = map_lookup(&counters, &subject->cgroup);
	__u32 slot = subject->ring;
	void *ring;

	if (count)
		__sync_fetch_and_add(&count->seen[kind], 1);
	ring = map_lookup(&rings, &slot);
	if ((!ring || ringbuf_output(ring, event, len, 0)) && count)
		__sync_fetch_and_add(&count->lost[kind], 1);
}

#endif
