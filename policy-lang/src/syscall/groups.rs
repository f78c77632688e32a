//! Groups of system calls, expanded.
//!
//! Written by `scripts/syscalls/generate.py` from `groups.txt`. Change that and run it again.

/// Name and members, both sorted. `@known` is not here: it is every call of the table of numbers.
#[rustfmt::skip]
pub(super) static GROUPS: &[(&str, &[&str])] = &[
    ("@aio", &[
        "io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit", "io_uring_enter",
        "io_uring_register", "io_uring_setup",
    ]),
    ("@basic-io", &[
        "close", "close_range", "dup", "dup2", "dup3", "lseek", "pread64", "preadv", "preadv2", "pwrite64",
        "pwritev", "pwritev2", "read", "readv", "write", "writev",
    ]),
    ("@chown", &[
        "chown", "fchown", "fchownat", "lchown",
    ]),
    ("@clock", &[
        "adjtimex", "clock_adjtime", "clock_settime", "settimeofday",
    ]),
    ("@cpu-emulation", &[
        "modify_ldt",
    ]),
    ("@debug", &[
        "lookup_dcookie", "perf_event_open", "pidfd_getfd", "ptrace",
    ]),
    ("@default", &[
        "arch_prctl", "brk", "clock_getres", "clock_gettime", "clock_nanosleep", "execve", "exit",
        "exit_group", "futex", "futex_requeue", "futex_wait", "futex_waitv", "futex_wake", "get_robust_list",
        "get_thread_area", "getegid", "geteuid", "getgid", "getgroups", "getpgid", "getpgrp", "getpid",
        "getppid", "getrandom", "getresgid", "getresuid", "getrlimit", "getsid", "gettid", "gettimeofday",
        "getuid", "map_shadow_stack", "membarrier", "mmap", "mprotect", "mseal", "munmap", "nanosleep",
        "pause", "prlimit64", "restart_syscall", "rseq", "rseq_slice_yield", "rt_sigreturn",
        "sched_getaffinity", "sched_yield", "set_robust_list", "set_thread_area", "set_tid_address", "time",
        "uprobe", "uretprobe",
    ]),
    ("@file-system", &[
        "access", "cachestat", "chdir", "chmod", "close", "creat", "faccessat", "faccessat2", "fallocate",
        "fchdir", "fchmod", "fchmodat", "fchmodat2", "fcntl", "fgetxattr", "file_getattr", "file_setattr",
        "flistxattr", "fremovexattr", "fsetxattr", "fstat", "fstatfs", "ftruncate", "futimesat", "getcwd",
        "getdents", "getdents64", "getxattr", "getxattrat", "inotify_add_watch", "inotify_init",
        "inotify_init1", "inotify_rm_watch", "lgetxattr", "link", "linkat", "listxattr", "listxattrat",
        "llistxattr", "lremovexattr", "lsetxattr", "lstat", "mkdir", "mkdirat", "mknod", "mknodat",
        "newfstatat", "open", "openat", "openat2", "readlink", "readlinkat", "removexattr", "removexattrat",
        "rename", "renameat", "renameat2", "rmdir", "setxattr", "setxattrat", "stat", "statfs", "statx",
        "symlink", "symlinkat", "truncate", "unlink", "unlinkat", "utime", "utimensat", "utimes",
    ]),
    ("@io-event", &[
        "epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait", "epoll_pwait2",
        "epoll_wait", "epoll_wait_old", "eventfd", "eventfd2", "poll", "ppoll", "pselect6", "select",
    ]),
    ("@ipc", &[
        "memfd_create", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend",
        "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "pipe", "pipe2", "process_madvise",
        "process_vm_readv", "process_vm_writev", "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl",
        "shmdt", "shmget",
    ]),
    ("@keyring", &[
        "add_key", "keyctl", "request_key",
    ]),
    ("@memlock", &[
        "mlock", "mlock2", "mlockall", "munlock", "munlockall",
    ]),
    ("@module", &[
        "delete_module", "finit_module", "init_module",
    ]),
    ("@mount", &[
        "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "listmount", "mount", "mount_setattr",
        "move_mount", "open_tree", "open_tree_attr", "pivot_root", "statmount", "umount2",
    ]),
    ("@network-io", &[
        "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen",
        "recvfrom", "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
        "socket", "socketpair",
    ]),
    ("@obsolete", &[
        "_sysctl", "afs_syscall", "create_module", "get_kernel_syms", "getpmsg", "putpmsg", "query_module",
        "security", "sysfs", "tuxcall", "uselib", "ustat", "vserver",
    ]),
    ("@pkey", &[
        "pkey_alloc", "pkey_free", "pkey_mprotect",
    ]),
    ("@privileged", &[
        "_sysctl", "acct", "adjtimex", "bpf", "capset", "chown", "chroot", "clock_adjtime", "clock_settime",
        "delete_module", "fanotify_init", "fanotify_mark", "fchown", "fchownat", "finit_module",
        "init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "lchown", "nfsservctl",
        "open_by_handle_at", "pivot_root", "quotactl", "quotactl_fd", "reboot", "setdomainname", "setfsuid",
        "setgroups", "sethostname", "setresuid", "setreuid", "settimeofday", "setuid", "swapoff", "swapon",
        "vhangup",
    ]),
    ("@process", &[
        "capget", "clone", "clone3", "execveat", "fork", "getrusage", "kill", "pidfd_open",
        "pidfd_send_signal", "prctl", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "setns", "tgkill", "times",
        "tkill", "unshare", "vfork", "wait4", "waitid",
    ]),
    ("@raw-io", &[
        "ioperm", "iopl",
    ]),
    ("@reboot", &[
        "kexec_file_load", "kexec_load", "reboot",
    ]),
    ("@resources", &[
        "ioprio_set", "mbind", "migrate_pages", "move_pages", "sched_setaffinity", "sched_setattr",
        "sched_setparam", "sched_setscheduler", "set_mempolicy", "set_mempolicy_home_node", "setpriority",
        "setrlimit",
    ]),
    ("@sandbox", &[
        "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "seccomp",
    ]),
    ("@setuid", &[
        "setgid", "setgroups", "setregid", "setresgid", "setresuid", "setreuid", "setuid",
    ]),
    ("@signal", &[
        "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigsuspend", "rt_sigtimedwait", "sigaltstack",
        "signalfd", "signalfd4",
    ]),
    ("@swap", &[
        "swapoff", "swapon",
    ]),
    ("@sync", &[
        "fdatasync", "fsync", "msync", "sync", "sync_file_range", "syncfs",
    ]),
    ("@system-service", &[
        "accept", "accept4", "access", "add_key", "alarm", "arch_prctl", "bind", "brk", "cachestat", "capget",
        "capset", "chdir", "chmod", "chown", "clock_getres", "clock_gettime", "clock_nanosleep", "clone",
        "clone3", "close", "close_range", "connect", "copy_file_range", "creat", "dup", "dup2", "dup3",
        "epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait", "epoll_pwait2",
        "epoll_wait", "epoll_wait_old", "eventfd", "eventfd2", "execve", "execveat", "exit", "exit_group",
        "faccessat", "faccessat2", "fadvise64", "fallocate", "fchdir", "fchmod", "fchmodat", "fchmodat2",
        "fchown", "fchownat", "fcntl", "fdatasync", "fgetxattr", "file_getattr", "file_setattr", "flistxattr",
        "flock", "fork", "fremovexattr", "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futex",
        "futex_requeue", "futex_wait", "futex_waitv", "futex_wake", "futimesat", "get_mempolicy",
        "get_robust_list", "get_thread_area", "getcpu", "getcwd", "getdents", "getdents64", "getegid",
        "geteuid", "getgid", "getgroups", "getitimer", "getpeername", "getpgid", "getpgrp", "getpid",
        "getppid", "getpriority", "getrandom", "getresgid", "getresuid", "getrlimit", "getrusage", "getsid",
        "getsockname", "getsockopt", "gettid", "gettimeofday", "getuid", "getxattr", "getxattrat",
        "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch", "io_cancel", "io_destroy",
        "io_getevents", "io_pgetevents", "io_setup", "io_submit", "io_uring_enter", "io_uring_register",
        "io_uring_setup", "ioctl", "ioprio_get", "ioprio_set", "kcmp", "keyctl", "kill", "lchown",
        "lgetxattr", "link", "linkat", "listen", "listxattr", "listxattrat", "llistxattr", "lremovexattr",
        "lseek", "lsetxattr", "lstat", "madvise", "map_shadow_stack", "mbind", "membarrier", "memfd_create",
        "migrate_pages", "mkdir", "mkdirat", "mknod", "mknodat", "mlock", "mlock2", "mlockall", "mmap",
        "move_pages", "mprotect", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend",
        "mq_unlink", "mremap", "mseal", "msgctl", "msgget", "msgrcv", "msgsnd", "msync", "munlock",
        "munlockall", "munmap", "name_to_handle_at", "nanosleep", "newfstatat", "open", "openat", "openat2",
        "pause", "personality", "pidfd_open", "pidfd_send_signal", "pipe", "pipe2", "poll", "ppoll", "prctl",
        "pread64", "preadv", "preadv2", "prlimit64", "process_madvise", "process_vm_readv",
        "process_vm_writev", "pselect6", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink",
        "readlinkat", "readv", "recvfrom", "recvmmsg", "recvmsg", "remap_file_pages", "removexattr",
        "removexattrat", "rename", "renameat", "renameat2", "request_key", "restart_syscall", "rmdir", "rseq",
        "rseq_slice_yield", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo",
        "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo", "sched_get_priority_max",
        "sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam",
        "sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity", "sched_setattr", "sched_setparam",
        "sched_setscheduler", "sched_yield", "select", "semctl", "semget", "semop", "semtimedop", "sendfile",
        "sendmmsg", "sendmsg", "sendto", "set_mempolicy", "set_mempolicy_home_node", "set_robust_list",
        "set_thread_area", "set_tid_address", "setfsgid", "setfsuid", "setgid", "setgroups", "setitimer",
        "setns", "setpgid", "setpriority", "setregid", "setresgid", "setresuid", "setreuid", "setrlimit",
        "setsid", "setsockopt", "setuid", "setxattr", "setxattrat", "shmat", "shmctl", "shmdt", "shmget",
        "shutdown", "sigaltstack", "signalfd", "signalfd4", "socket", "socketpair", "splice", "stat",
        "statfs", "statx", "symlink", "symlinkat", "sync", "sync_file_range", "syncfs", "sysinfo", "tee",
        "tgkill", "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime",
        "timer_settime", "timerfd_create", "timerfd_gettime", "timerfd_settime", "times", "tkill", "truncate",
        "umask", "uname", "unlink", "unlinkat", "unshare", "uprobe", "uretprobe", "userfaultfd", "utime",
        "utimensat", "utimes", "vfork", "vmsplice", "wait4", "waitid", "write", "writev",
    ]),
    ("@timer", &[
        "alarm", "getitimer", "setitimer", "timer_create", "timer_delete", "timer_getoverrun",
        "timer_gettime", "timer_settime", "timerfd_create", "timerfd_gettime", "timerfd_settime", "times",
    ]),
];
