//! The questions, each one system call or one small file.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Capabilities, Capability, Presence};
use crate::instance::{Controller, Hierarchy, Instance};
use crate::sys;

/// Privileges the enforcer uses, by capability number (see capabilities(7)).
const PRIVILEGES: [(u32, &str); 9] = [
    (6, "setgid"),
    (7, "setuid"),
    (8, "setpcap"),
    (5, "kill"),
    (12, "net_admin"),
    (21, "sys_admin"),
    (30, "audit_control"),
    (37, "audit_read"),
    (39, "bpf"),
];

/// Asks this kernel what it offers to this process. Changes nothing on the host.
#[must_use]
pub fn probe() -> Capabilities {
    probe_beyond(&[])
}

/// The same for a process that has just used some of it: `shown` says what, and how.
pub(crate) fn probe_beyond(shown: &[(Capability, &str)]) -> Capabilities {
    let instance = Instance::new(Instance::DEFAULT_NAME);
    let landlock = sys::landlock::abi();
    let mut found = BTreeMap::new();
    for capability in Capability::ALL {
        if let Some((_, how)) = shown.iter().find(|(found, _)| *found == capability) {
            found.insert(capability, present((*how).to_owned()));
            continue;
        }
        let presence = match capability {
            Capability::Privileges => privileges(),
            Capability::Landlock => answer("landlock_create_ruleset(VERSION)", &landlock, |abi| {
                format!("ABI {abi}")
            }),
            Capability::SeccompLog => answer(
                "seccomp(SECCOMP_GET_ACTION_AVAIL, LOG)",
                &sys::seccomp::log_available(),
                |()| "available".to_owned(),
            ),
            Capability::Cgroup2 => match &instance {
                Ok(instance) => present(format!("mounted at {}", instance.cgroup2_root().display())),
                Err(error) => absent(error.to_string()),
            },
            Capability::CgroupKill => match &instance {
                Ok(instance) => cgroup_kill(instance),
                Err(error) => absent(error.to_string()),
            },
            Capability::CgroupBpf => answer("bpf(BPF_PROG_QUERY, cgroup)", &cgroup_bpf(&instance), |()| {
                "answered".to_owned()
            }),
            Capability::MountSetattr => answer("mount_setattr(-1)", &sys::mount::setattr_available(), |()| {
                "the call exists".to_owned()
            }),
            Capability::UserNamespace => namespace("user"),
            Capability::Fuse => answer("open(/dev/fuse)", &fuse(), |()| "opened".to_owned()),
            Capability::PidNamespace => namespace("pid"),
            Capability::MemfdNoexec => file("/proc/sys/vm/memfd_noexec"),
            Capability::MemoryController => controller(&instance, Controller::Memory),
            Capability::PidsController => controller(&instance, Controller::Pids),
            Capability::CpuController => controller(&instance, Controller::Cpu),
            Capability::Audit => answer(
                "bind(NETLINK_AUDIT, AUDIT_NLGRP_READLOG)",
                &sys::audit_available(),
                |()| "joined".to_owned(),
            ),
            Capability::KernelBtf => file("/sys/kernel/btf/vmlinux"),
            Capability::BpfLsm => lsm("bpf"),
            Capability::Approvals
            | Capability::HostNames
            | Capability::Hide
            | Capability::Broker
            | Capability::Workspace
            | Capability::FileAccessRecords => absent("not in this version of Remit".to_owned()),
        };
        found.insert(capability, presence);
    }
    let uname = rustix::system::uname();
    Capabilities {
        kernel: uname.release().to_string_lossy().into_owned(),
        landlock_abi: landlock.unwrap_or(0),
        landlock_errata: sys::landlock::errata().unwrap_or(0),
        found,
    }
}

fn present(evidence: String) -> Presence {
    Presence {
        present: true,
        evidence,
    }
}

fn absent(evidence: String) -> Presence {
    Presence {
        present: false,
        evidence,
    }
}

fn answer<T>(question: &str, result: &std::io::Result<T>, say: impl Fn(&T) -> String) -> Presence {
    match result {
        Ok(value) => present(format!("{question}: {}", say(value))),
        Err(error) => absent(format!("{question}: {error}")),
    }
}

fn fuse() -> std::io::Result<()> {
    std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/fuse")
        .map(drop)
}

fn file(path: &str) -> Presence {
    if Path::new(path).exists() {
        present(format!("{path} exists"))
    } else {
        absent(format!("{path} is absent"))
    }
}

fn namespace(kind: &str) -> Presence {
    file(&format!("/proc/self/ns/{kind}"))
}

fn controller<E>(instance: &Result<Instance, E>, controller: Controller) -> Presence {
    let place = instance
        .as_ref()
        .ok()
        .and_then(|instance| instance.controller(controller));
    match place {
        Some(Hierarchy::V2) => present("in the unified hierarchy".to_owned()),
        Some(Hierarchy::V1(point)) => present(format!("version 1, mounted at {}", point.display())),
        None => absent("no hierarchy has it".to_owned()),
    }
}

/// The file exists in every cgroup but the root, so a child that exists already is asked, the instance's own first; the
/// kernel version decides where there is none.
fn cgroup_kill(instance: &Instance) -> Presence {
    let own = file(&instance.cgroup().join("cgroup.kill").to_string_lossy());
    if own.present {
        return own;
    }
    let child = std::fs::read_dir(instance.cgroup2_root())
        .ok()
        .and_then(|mut entries| {
            entries.find_map(|entry| {
                entry
                    .ok()
                    .filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()))
            })
        });
    if let Some(child) = child {
        let path = child.path().join("cgroup.kill");
        return file(&path.to_string_lossy());
    }
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map_while(|word| word.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    Presence {
        present: version >= (5, 14),
        evidence: format!("Linux {release}; in Linux since 5.14"),
    }
}

fn cgroup_bpf<E: std::fmt::Display>(instance: &Result<Instance, E>) -> std::io::Result<()> {
    match instance {
        Ok(instance) => sys::bpf_query::cgroup(instance.cgroup2_root()),
        Err(error) => Err(std::io::Error::other(error.to_string())),
    }
}

fn privileges() -> Presence {
    let effective = rustix::thread::capabilities(None).map_or(0, |sets| sets.effective.bits());
    let missing: Vec<&str> = PRIVILEGES
        .iter()
        .filter(|(bit, _)| effective >> bit & 1 == 0)
        .map(|(_, name)| *name)
        .collect();
    if missing.is_empty() {
        present(format!("effective set {effective:#x}"))
    } else {
        absent(format!(
            "effective set {effective:#x} lacks {}",
            missing.join(", ")
        ))
    }
}

/// securityfs is often not mounted; then nothing is known, and nothing depends on the answer.
fn lsm(name: &str) -> Presence {
    match std::fs::read_to_string("/sys/kernel/security/lsm") {
        Ok(list) if list.split(',').any(|word| word.trim() == name) => {
            present(format!("lsm={}", list.trim()))
        }
        Ok(list) => absent(format!("lsm={}", list.trim())),
        Err(error) => absent(format!("/sys/kernel/security/lsm: {error}")),
    }
}
