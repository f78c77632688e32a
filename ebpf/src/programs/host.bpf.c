// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Devices (BPF_CGROUP_DEVICE) and kernel settings (BPF_CGROUP_SYSCTL). These lists are the same for every run.
 */
#include "record.h"

/* null, zero, full, random and urandom; tty and ptmx; pts (Documentation/admin-guide/devices.txt). */
INLINE bool is_ordinary(__u32 major, __u32 minor)
{
	switch (major) {
	case 1:
		return minor == 3 || minor == 5 || minor == 7 || minor == 8 || minor == 9;
	case 5:
		return minor == 0 || minor == 2;
	default:
		return major >= 136 && major <= 143;
	}
}

SEC("cgroup/dev")
int device(struct bpf_cgroup_dev_ctx *ctx)
{
	struct subject subject = current_subject();
	__u32 type = ctx->access_type & 0xffff, access = ctx->access_type >> 16;
	struct device_event event = {};

	if (!subject.is_run)
		return 0;
	if (type == DEVICE_CHAR && !(access & DEVICE_MKNOD) && is_ordinary(ctx->major, ctx->minor))
		return 1;
	event.device_type = type;
	event.major = ctx->major;
	event.minor = ctx->minor;
	event.access = access;
	stamp(&event.header, &subject, EVENT_DEVICE, 1);
	deliver(&subject, EVENT_DEVICE, &event, sizeof(event));
	return 0;
}

/*
 * The one setting the launcher writes inside the cgroup, for the run's own PID namespace. It needs
 * CAP_SYS_ADMIN there, which the command never has, and can only become stricter.
 */
INLINE bool is_launchers(const char *name)
{
	const char allowed[] = "vm/memfd_noexec";

	for (unsigned int i = 0; i < sizeof(allowed); i++)
		if (name[i] != allowed[i])
			return 0;
	return 1;
}

SEC("cgroup/sysctl")
int sysctl(struct bpf_sysctl *ctx)
{
	struct subject subject = current_subject();
	struct sysctl_event event = {};

	if (!subject.is_run)
		return 0;
	if (!ctx->write)
		return 1;
	sysctl_get_name(ctx, event.name, sizeof(event.name), 0);
	if (is_launchers(event.name))
		return 1;
	stamp(&event.header, &subject, EVENT_SYSCTL, 1);
	deliver(&subject, EVENT_SYSCTL, &event, sizeof(event));
	return 0;
}
