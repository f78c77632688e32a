// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Starts, forks and exits (tp_btf). Tracepoints are the whole machine's, so the first thing each program does is
 * to see whether the process belongs to a run that records them.
 */
#include "record.h"

#define PATH_MAX 4096

struct path_scratch {
	struct exec_event event;
	char path[PATH_MAX];
};

/* Too large for the stack. Tracepoints run with preemption off, so nobody else uses this CPU's meanwhile. */
struct {
	map_uint(type, MAP_PERCPU_ARRAY);
	map_uint(max_entries, 1);
	map_type(key, __u32);
	map_type(value, struct path_scratch);
} scratch SEC(".maps");

INLINE bool is_recording(const struct subject *subject)
{
	return subject->is_run && subject->flags & RECORD_EXEC;
}

SEC("tp_btf/sched_process_exec")
int exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct linux_binprm *program = (void *)ctx[2];
	struct subject subject = current_subject();
	struct path_scratch *to;
	__u32 zero = 0;
	__u64 len;
	long read;

	if (!is_recording(&subject))
		return 0;
	to = map_lookup(&scratch, &zero);
	if (!to)
		return 0;
	stamp(&to->event.header, &subject, EVENT_EXEC, 1);
	to->event.parent = task->real_parent->tgid;
	/* The length it returns counts the terminator. */
	read = probe_read_kernel_str(to->path, sizeof(to->path), program->filename);
	len = read > 0 ? read - 1 : 0;
	if (len >= sizeof(to->path))
		len = sizeof(to->path) - 1;
	to->event.path_len = len;
	deliver(&subject, EVENT_EXEC, to, sizeof(to->event) + len);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int fork(__u64 *ctx)
{
	struct task_struct *child = (void *)ctx[1];
	struct subject subject = current_subject();
	struct fork_event event = {};

	/* A thread's id differs from its group's. */
	if (!is_recording(&subject) || child->pid != child->tgid)
		return 0;
	event.child = child->tgid;
	stamp(&event.header, &subject, EVENT_FORK, 1);
	deliver(&subject, EVENT_FORK, &event, sizeof(event));
	return 0;
}

INLINE int record_exit(struct task_struct *task)
{
	struct subject subject = current_subject();
	struct exit_event event = {};

	if (!is_recording(&subject))
		return 0;
	event.status = task->exit_code;
	stamp(&event.header, &subject, EVENT_EXIT, 1);
	deliver(&subject, EVENT_EXIT, &event, sizeof(event));
	return 0;
}

/* Linux 6.16 and later say whether this is the last thread. The loader tries this one first. */
SEC("tp_btf/sched_process_exit")
int exit(__u64 *ctx)
{
	if (!(ctx[1] & 1))
		return 0;
	return record_exit((void *)ctx[0]);
}

/* Before, the count of live threads says so; two last threads that end at once may both find it zero. */
SEC("tp_btf/sched_process_exit")
int exit_before_6_16(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (task->signal->live.counter != 0)
		return 0;
	return record_exit(task);
}
