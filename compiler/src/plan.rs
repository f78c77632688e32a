//! What a policy becomes: decisions arranged by mechanism, not yet laid out.
//!
//! Rules are still whole here and prefixes still own their decisions. [`crate::emit`] numbers, shares and sorts.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use artifact::RuleRecord;
use artifact::environment::EnvironmentPlan;
use artifact::filesystem::FilesystemPlan;
use artifact::network::PortInterval;
use artifact::process::{ProcessPlan, RecordOptions, Requirement};
use artifact::seccomp::SeccompFilter;

/// A lowered policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Policy name.
    pub name: String,
    /// Its summary.
    pub summary: Option<String>,
    /// Parameters as bound.
    pub parameters: BTreeMap<String, String>,
    /// Every rule and what it became, by id.
    pub rules: Vec<RuleRecord>,
    /// What the host must offer.
    pub requirements: Vec<Requirement>,
    /// Elementary file rules and scratch mounts.
    pub files: FilesystemPlan,
    /// Decisions for addresses and ports.
    pub network: NetworkPlan,
    /// The environment.
    pub environment: EnvironmentPlan,
    /// Identity and limits.
    pub process: ProcessPlan,
    /// One filter for each architecture.
    pub seccomp: Vec<SeccompFilter>,
    /// What is recorded besides refusals.
    pub record: RecordOptions,
}

/// Decisions for every distinct prefix that a rule names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkPlan {
    /// In no particular order; prefixes are distinct. A list stands at the [`artifact::network::slot`] of its
    /// protocol and verb.
    pub prefixes: Vec<PrefixPlan>,
    /// Ports that some address may be connected to over TCP, if they are few enough for Landlock.
    pub landlock_connect_ports: Option<Vec<u16>>,
    /// The same for binding.
    pub landlock_bind_ports: Option<Vec<u16>>,
}

/// What is decided for the addresses whose longest matching prefix is this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixPlan {
    /// Network address.
    pub address: IpAddr,
    /// Length in bits.
    pub prefix_len: u8,
    /// Prefixes that decide alike share a list.
    pub lists: [Rc<[PortInterval]>; 4],
}
