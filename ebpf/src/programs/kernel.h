/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the programs need of the kernel, declared by hand: no header of the machine that builds them is read, so
 * the same compiler makes the same bytes anywhere.
 *
 * Contexts and constants are the kernel's user-space interface (include/uapi/linux/bpf.h): their offsets never
 * change. Structs marked CO_RE are the kernel's own: only the fields that are read are declared, and the loader
 * moves each access to where the running kernel keeps the field.
 */
#ifndef REMIT_KERNEL_H
#define REMIT_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef _Bool bool;

_Static_assert(sizeof(__u64) == 8 && sizeof(__u32) == 4 && sizeof(__u16) == 2, "integer sizes");

#define NULL ((void *)0)
#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define CO_RE __attribute__((preserve_access_index))
#define offset_of(type, field) __builtin_offsetof(type, field)

/* Declarations of maps, as loaders read them from BTF. */
#define map_uint(name, value) int (*name)[value]
#define map_type(name, value) typeof(value) *name

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define be16(x) __builtin_bswap16(x)
#define be32(x) __builtin_bswap32(x)
#else
#define be16(x) ((__u16)(x))
#define be32(x) ((__u32)(x))
#endif

enum map_types {
	MAP_HASH = 1,
	MAP_PERCPU_ARRAY = 6,
	MAP_ARRAY_OF_MAPS = 12,
	MAP_SK_STORAGE = 24,
	MAP_RINGBUF = 27,
};

enum {
	MAP_NO_PREALLOC = 1,       /* BPF_F_NO_PREALLOC */
	STORAGE_CREATE = 1,        /* BPF_SK_STORAGE_GET_F_CREATE */
	FAMILY_INET = 2,
	FAMILY_INET6 = 10,
	TYPE_STREAM = 1,
	TYPE_DATAGRAM = 2,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	DEVICE_CHAR = 2,           /* BPF_DEVCG_DEV_CHAR */
	DEVICE_MKNOD = 1,          /* BPF_DEVCG_ACC_MKNOD */
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_IPV6 = 0x86dd,
};

struct bpf_sock {
	__u32 bound_dev_if;
	__u32 family;
	__u32 type;
	__u32 protocol;
	__u32 mark;
	__u32 priority;
	__u32 src_ip4;
	__u32 src_ip6[4];
	__u32 src_port;            /* host byte order */
};
_Static_assert(offset_of(struct bpf_sock, src_ip6) == 28, "bpf_sock");
_Static_assert(offset_of(struct bpf_sock, src_port) == 44, "bpf_sock");

struct bpf_sock_addr {
	__u32 user_family;
	__u32 user_ip4;            /* network byte order, as the rest */
	__u32 user_ip6[4];
	__u32 user_port;
	__u32 family;
	__u32 type;
	__u32 protocol;
	__u32 msg_src_ip4;
	__u32 msg_src_ip6[4];
	struct bpf_sock *sk __attribute__((aligned(8)));
};
_Static_assert(offset_of(struct bpf_sock_addr, user_port) == 24, "bpf_sock_addr");
_Static_assert(offset_of(struct bpf_sock_addr, protocol) == 36, "bpf_sock_addr");
_Static_assert(offset_of(struct bpf_sock_addr, sk) == 64, "bpf_sock_addr");

struct __sk_buff {
	__u32 len;
	__u32 before_protocol[3];
	__u32 protocol;            /* ethertype, network byte order */
	__u32 after_protocol[14];
	__u32 data;
	__u32 data_end;
	__u32 after_data[21];
	struct bpf_sock *sk __attribute__((aligned(8)));
};
_Static_assert(offset_of(struct __sk_buff, protocol) == 16, "__sk_buff");
_Static_assert(offset_of(struct __sk_buff, data) == 76, "__sk_buff");
_Static_assert(offset_of(struct __sk_buff, sk) == 168, "__sk_buff");

struct bpf_cgroup_dev_ctx {
	__u32 access_type;         /* access << 16 | type */
	__u32 major;
	__u32 minor;
};

struct bpf_sysctl {
	__u32 write;
	__u32 file_pos;
};

struct task_struct {
	int tgid;
	int pid;
	int exit_code;
	struct task_struct *real_parent;
	struct signal_struct *signal;
} CO_RE;

typedef struct {
	int counter;
} CO_RE atomic_t;

struct signal_struct {
	atomic_t live;
} CO_RE;

struct linux_binprm {
	const char *filename;
} CO_RE;

/* Helpers, by their number in the kernel's list. */
static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static __u64 (*const current_pid_tgid)(void) = (void *)14;
static __u64 (*const current_uid_gid)(void) = (void *)15;
static long (*const current_comm)(void *to, __u32 len) = (void *)16;
static long (*const skb_load_bytes)(const void *skb, __u32 offset, void *to, __u32 len) = (void *)26;
static __u64 (*const skb_ancestor_cgroup_id)(struct __sk_buff *skb, int level) = (void *)83;
static long (*const sysctl_get_name)(struct bpf_sysctl *ctx, char *to, __u64 len, __u64 flags) = (void *)101;
static void *(*const sk_storage_get)(void *map, void *sk, void *initial, __u64 flags) = (void *)107;
static long (*const probe_read_kernel_str)(void *to, __u32 len, const void *from) = (void *)115;
static __u64 (*const current_ancestor_cgroup_id)(int level) = (void *)123;
static __u64 (*const ktime_get_boot_ns)(void) = (void *)125;
static long (*const ringbuf_output)(void *ring, void *data, __u64 len, __u64 flags) = (void *)130;

#endif
