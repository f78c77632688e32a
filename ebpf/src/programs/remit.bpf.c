// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * All programs, as one object. They are attached once, to the cgroup that is the parent of all runs, and judge
 * by the tables of the run they are called for; a policy is data. A cgroup that is no run is refused everything.
 *
 * The tracing helpers are open to GPL-compatible programs only.
 */
#include "address.bpf.c"
#include "socket.bpf.c"
#include "packet.bpf.c"
#include "host.bpf.c"
#include "process.bpf.c"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
