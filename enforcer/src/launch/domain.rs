//! The Landlock domain: every right, port and scope this kernel's ABI knows is handled, the policy's grants are
//! added, and anything the kernel cannot do is an error rather than a weaker domain. See landlock(7).

use std::error::Error;
use std::io;

use artifact::filesystem::{LandlockRule, NodeKind, path};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::{Failure, LaunchSpec, Step};

/// A rule set that is ready to be entered.
#[derive(Debug)]
pub(super) struct Domain {
    rules: RulesetCreated,
}

/// Opens the rules inside the finished mount tree, while this process may still open anything.
pub(super) fn open(spec: &LaunchSpec) -> Result<Domain, Failure> {
    let abi = ABI::from(i32::try_from(spec.landlock_abi).unwrap_or(0));
    let rules = handle(spec, abi).map_err(|error| failed("the handled rights", &error))?;
    let rules = spec
        .landlock
        .iter()
        .try_fold(rules, |rules, rule| add(rules, rule, abi))?;
    // Before ABI 4 the cgroup's programs are alone with the ports.
    let rules = if abi >= ABI::V4 {
        let rules = add_ports(rules, spec.connect_ports.as_deref(), AccessNet::ConnectTcp)?;
        add_ports(rules, spec.bind_ports.as_deref(), AccessNet::BindTcp)?
    } else {
        rules
    };
    Ok(Domain { rules })
}

impl Domain {
    /// Restricts this process for good. `no_new_privs` is set already.
    pub(super) fn enter(self) -> Result<(), Failure> {
        let whole = |error: &(dyn Error + 'static)| {
            Failure::new(Step::Landlock, "landlock_restrict_self", &os_error(error))
        };
        let status = self
            .rules
            .no_new_privs(false)
            .restrict_self()
            .map_err(|error| whole(&error))?;
        if status.ruleset == RulesetStatus::FullyEnforced {
            Ok(())
        } else {
            Err(whole(&io::Error::from_raw_os_error(libc::EOPNOTSUPP)))
        }
    }
}

fn handle(spec: &LaunchSpec, abi: ABI) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    if abi >= ABI::V4 {
        for (ports, access) in [
            (&spec.connect_ports, AccessNet::ConnectTcp),
            (&spec.bind_ports, AccessNet::BindTcp),
        ] {
            if ports.is_some() {
                rules = rules.handle_access(access)?;
            }
        }
    }
    if abi >= ABI::V6 {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    let rules = rules.create()?;
    // The command is a new program in this domain: without the flag its refusals would not be recorded.
    if abi >= ABI::V7 {
        rules.log_new_exec(true)
    } else {
        Ok(rules)
    }
}

fn add(rules: RulesetCreated, rule: &LandlockRule, abi: ABI) -> Result<RulesetCreated, Failure> {
    let object = PathFd::new(&rule.path).map_err(|error| failed(&rule.path, &error))?;
    rules
        .add_rule(PathBeneath::new(object, rights(rule, abi)))
        .map_err(|error| failed(&rule.path, &error))
}

fn add_ports(
    rules: RulesetCreated,
    ports: Option<&[u16]>,
    access: AccessNet,
) -> Result<RulesetCreated, Failure> {
    let Some(ports) = ports else { return Ok(rules) };
    ports.iter().try_fold(rules, |rules, port| {
        rules
            .add_rule(NetPort::new(*port, access))
            .map_err(|error| failed(&format!("port {port}"), &error))
    })
}

/// What the language's three accesses are in Landlock's rights. Device nodes are never to be made.
fn rights(rule: &LandlockRule, abi: ABI) -> BitFlags<AccessFs> {
    let mut rights = BitFlags::<AccessFs>::EMPTY;
    if rule.rights.read {
        rights |= AccessFs::ReadFile | AccessFs::ReadDir;
    }
    if rule.rights.execute {
        rights |= AccessFs::Execute;
    }
    if rule.rights.write {
        rights |=
            AccessFs::from_write(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    }
    // Everything outside the run's own /dev is on a mount without devices.
    if path::covers("/dev", &rule.path) {
        rights |= AccessFs::IoctlDev;
    }
    let applicable = match rule.kind {
        NodeKind::Directory => AccessFs::from_all(abi),
        NodeKind::File | NodeKind::Special => AccessFs::from_file(abi),
    };
    rights & applicable & AccessFs::from_all(abi)
}

fn failed(subject: &str, error: &(dyn Error + 'static)) -> Failure {
    Failure::new(Step::LandlockRules, subject, &os_error(error))
}

/// The kernel's answer at the bottom of an error of the landlock crate.
fn os_error(error: &(dyn Error + 'static)) -> io::Error {
    std::iter::successors(Some(error), |error| (*error).source())
        .find_map(|error| error.downcast_ref::<io::Error>()?.raw_os_error())
        .map_or_else(
            || io::Error::from_raw_os_error(libc::EOPNOTSUPP),
            io::Error::from_raw_os_error,
        )
}
