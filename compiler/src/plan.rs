//! What a policy becomes: decisions arranged by mechanism, not yet laid out.
//!
//! Rules are still whole here and prefixes still own their decisions. [`crate::emit`] numbers, shares and sorts.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use artifact::environment::EnvironmentPlan;
use artifact::filesystem::FilesystemPlan;
use artifact::network::{HostRule, PortInterval};
use artifact::process::{ProcessPlan, RecordOptions, Requirement};
use artifact::seccomp::SeccompFilter;
use artifact::{Broker, Layer, RuleRecord, Unlock, Workspace};

/// A lowered policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Policy name.
    pub name: String,
    /// Its summary.
    pub summary: Option<String>,
    /// Parameters as bound.
    pub parameters: BTreeMap<String, String>,
    /// The policy and its ceilings.
    pub layers: Vec<Layer>,
    /// What of the floor is open.
    pub unlocks: Vec<Unlock>,
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
    /// Credentials that the run uses and never holds.
    pub brokers: Vec<Broker>,
    /// Where the run works.
    pub workspace: Option<Workspace>,
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
    /// Rules on names.
    pub hosts: Vec<HostRule>,
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
