//! From an admitted artifact and the host as it is now to everything a launch needs, without changing the host.

pub(crate) mod environment;
mod links;
mod nodes;
mod specials;
mod view;

use std::ffi::OsString;

use artifact::filesystem::{FileAccess, RegionTree, regions};
use artifact::process::{Identity, Limit};
use artifact::rule::RuleId;
use artifact::{Artifact, Effect};

use crate::admission::Admitted;
use crate::capabilities::{Capabilities, Capability};
use crate::launch::{LaunchSpec, Mount};
use crate::mask::MaskTree;
use crate::run::Caller;
use crate::sys::signal::SignalSet;

pub use nodes::PathProblem;

/// Ids a run executes under, and whether anybody else has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Nobody else's: files on the host are shown with mapped owners.
    pub(crate) dynamic: bool,
}

/// What the host offers towards the run's view of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Means {
    /// Masks can be served.
    fuse: bool,
    /// Landlock has a right for truncation (ABI 3).
    truncation: bool,
}

impl Means {
    /// Those of a probed host.
    pub(crate) fn of(capabilities: &Capabilities) -> Self {
        Self {
            fuse: capabilities.has(Capability::Fuse),
            truncation: capabilities.landlock_abi >= 3,
        }
    }
}

/// What was decided before anything was changed.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) masks: MaskTree,
    pub(crate) base_attributes: u64,
    pub(crate) mounts: Vec<Mount>,
    pub(crate) tree: RegionTree,
    /// Rules that do not hold fully on this host's files and permit that, with the reason.
    pub(crate) degraded: Vec<(RuleId, String)>,
}

/// Why a run cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A path of the policy is not as the policy needs it.
    #[error(transparent)]
    Path(#[from] PathProblem),
}

/// Looks at the host's files and works out the run's view of them.
///
/// # Errors
/// When a path that a rule names is missing or has become a symbolic link, when a glob matches too much, or when
/// a hard link would undo a rule.
pub(crate) fn files(artifact: &Artifact, ids: Ids, means: Means) -> Result<Prepared, PrepareError> {
    let mut found = nodes::collect(artifact)?;
    let mut tree = regions(&artifact.filesystem, &found.nodes);
    let specials = specials::in_read_only_places(artifact, &tree)?;
    if !specials.is_empty() {
        found.nodes.extend(specials);
        tree = regions(&artifact.filesystem, &found.nodes);
    }
    let mut degraded = found.degraded;
    degraded.extend(links::audit(artifact, &tree, &found.nodes)?);
    let view = view::lay_out(&tree, ids, means);
    Ok(Prepared {
        masks: view.masks,
        base_attributes: view.base_attributes,
        mounts: view.mounts,
        tree,
        degraded,
    })
}

/// Puts the launcher's instructions together.
pub(crate) fn spec(
    admitted: &Admitted,
    prepared: &Prepared,
    ids: Ids,
    caller: &Caller,
    command: &[OsString],
    limits: &crate::limits::Plan,
    signal_mask: SignalSet,
) -> LaunchSpec {
    let artifact = admitted.artifact();
    LaunchSpec {
        cgroups: Vec::new(),
        network: None,
        base_attributes: prepared.base_attributes,
        mounts: prepared.mounts.clone(),
        working_directory: caller.working_directory.clone().into_os_string(),
        landlock_abi: admitted.capabilities().landlock_abi,
        landlock: prepared.tree.landlock.clone(),
        connect_ports: artifact.network.landlock_connect_ports.clone(),
        bind_ports: artifact.network.landlock_bind_ports.clone(),
        seccomp: admitted
            .seccomp()
            .map(|filter| filter.program.clone())
            .unwrap_or_default(),
        uid: ids.uid,
        gid: ids.gid,
        rlimits: limits.rlimits.clone(),
        signal_mask,
        environment: environment::build(&artifact.environment, &caller.environment),
        command: command.to_vec(),
    }
}

/// Whether some rule allows `access` at all; nothing has to be protected from an access that nobody has.
fn grants(artifact: &Artifact, access: FileAccess) -> bool {
    artifact
        .filesystem
        .rules
        .iter()
        .any(|rule| rule.access == access && rule.effect == Effect::Allow)
}

/// The wall-clock limit in seconds.
pub(crate) fn wall_limit(limits: &[Limit]) -> Option<&Limit> {
    limits
        .iter()
        .find(|limit| limit.resource == artifact::process::Resource::Wall)
}

/// The plan's identity, if it does not have to be allocated.
pub(crate) fn fixed_ids(identity: Identity, caller: (u32, u32)) -> Option<Ids> {
    match identity {
        Identity::User => Some(Ids {
            uid: caller.0,
            gid: caller.1,
            dynamic: false,
        }),
        Identity::Ids { uid, gid } => Some(Ids {
            uid,
            gid,
            dynamic: false,
        }),
        Identity::Dynamic => None,
    }
}

/// The rule whose path a launch failure is about, as `file:line: text`.
pub(crate) fn rule_about(artifact: &Artifact, path: &str) -> Option<String> {
    use artifact::filesystem::PathPattern;
    let about = |pattern: &PathPattern| matches!(pattern, PathPattern::Literal(literal) if literal == path);
    let rule = artifact
        .filesystem
        .rules
        .iter()
        .find(|rule| about(&rule.pattern))?;
    let problem = PathProblem::new(artifact, rule.rule, String::new());
    Some(format!("{}: `{}`", problem.place, problem.text))
}
