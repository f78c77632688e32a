//! Limits: a controller file where the host has the controller, a resource limit otherwise.

use std::io;
use std::path::{Path, PathBuf};

use artifact::process::{Limit, Resource};

use crate::instance::{Controller, Hierarchy, Instance};
use crate::launch::Rlimit;

/// Length of a CPU bandwidth period.
const PERIOD_US: u64 = 100_000;

/// Where the limits of one run go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Plan {
    pub(crate) rlimits: Vec<(Rlimit, u64)>,
    /// File name and value, in the run's unified cgroup.
    pub(crate) unified: Vec<(&'static str, String)>,
    /// Controllers the parent has to hand down for those.
    pub(crate) handed_down: Vec<Controller>,
    /// The same for version 1 hierarchies: mount point, file name, value.
    pub(crate) v1: Vec<(PathBuf, &'static str, String)>,
}

/// Decides where each limit goes.
pub(crate) fn plan(limits: &[Limit], instance: &Instance) -> Plan {
    let mut plan = Plan::default();
    for limit in limits {
        let value = limit.value;
        match limit.resource {
            Resource::OpenFiles => plan.rlimits.push((Rlimit::OpenFiles, value)),
            Resource::Wall => {}
            Resource::Memory => match instance.controller(Controller::Memory) {
                Some(Hierarchy::V2) => {
                    plan.hand_down(Controller::Memory);
                    plan.unified.extend([
                        ("memory.max", value.to_string()),
                        ("memory.swap.max", "0".to_owned()),
                        ("memory.oom.group", "1".to_owned()),
                    ]);
                }
                Some(Hierarchy::V1(mount)) => plan.v1.extend([
                    (mount.clone(), "memory.limit_in_bytes", value.to_string()),
                    (mount.clone(), "memory.memsw.limit_in_bytes", value.to_string()),
                ]),
                None => plan.rlimits.push((Rlimit::AddressSpace, value)),
            },
            // Process 1 of the run is remit's own and not counted against the policy.
            Resource::Processes => match instance.controller(Controller::Pids) {
                Some(Hierarchy::V2) => {
                    plan.hand_down(Controller::Pids);
                    plan.unified
                        .push(("pids.max", value.saturating_add(1).to_string()));
                }
                Some(Hierarchy::V1(mount)) => {
                    plan.v1
                        .push((mount.clone(), "pids.max", value.saturating_add(1).to_string()));
                }
                None => plan.rlimits.push((Rlimit::Processes, value.saturating_add(1))),
            },
            Resource::Cpu => {
                let quota = value.saturating_mul(PERIOD_US) / 100;
                match instance.controller(Controller::Cpu) {
                    Some(Hierarchy::V2) => {
                        plan.hand_down(Controller::Cpu);
                        plan.unified.push(("cpu.max", format!("{quota} {PERIOD_US}")));
                    }
                    Some(Hierarchy::V1(mount)) => plan.v1.extend([
                        (mount.clone(), "cpu.cfs_period_us", PERIOD_US.to_string()),
                        (mount.clone(), "cpu.cfs_quota_us", quota.to_string()),
                    ]),
                    // Admission has refused, or the rule permits its absence.
                    None => {}
                }
            }
        }
    }
    plan
}

impl Plan {
    fn hand_down(&mut self, controller: Controller) {
        if !self.handed_down.contains(&controller) {
            self.handed_down.push(controller);
        }
    }
}

/// Writes one controller file. Swap accounting may be compiled out; then memory alone is limited.
pub(crate) fn write(directory: &Path, file: &str, value: &str) -> io::Result<()> {
    let optional = matches!(file, "memory.swap.max" | "memory.memsw.limit_in_bytes");
    match std::fs::write(directory.join(file), value) {
        Err(error) if optional && error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if optional && error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other,
    }
}
