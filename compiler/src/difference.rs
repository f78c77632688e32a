//! What a policy allows that another does not: exactly, with an access that shows each difference.
//!
//! The accesses fall into finitely many classes that no rule of either policy tells apart. Each domain walks its classes
//! (`files`, `network`, `environment`, `syscalls`), and each class is decided on both sides as the reference does it.
//! What no access shows (limits, the identity, brokers and the like) is compared one by one in `settings`.
//!
//! Differences are gathered by the pair of rules that decide: a rule that was widened is one [`Change`], however many places
//! that concerns. Labels, positions, names and the order of rules do not matter.
//!
//! Every answer is exact, or says that it is not: [`Difference::at_least_as_strict`] is then [`Proof::Undecided`], which is no
//! yes.

use policy_lang::inclusion::Proof;
use policy_lang::policy::{FileAccess, Policy, Protocol, RuleId, Verb};
use serde::Serialize;

mod ceiling;
mod cells;
mod change;
mod classes;
mod environment;
mod files;
mod gather;
mod names;
mod network;
mod settings;
mod syscalls;
mod view;

pub use ceiling::beyond;
pub use change::{Change, Domain, Judged, Outcome};
pub use settings::{Direction, Setting, Topic};

pub(crate) use classes::{Class, Classes};
pub(crate) use view::View;

/// Everything in which two policies differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Accesses that are judged differently. What became wider comes first.
    pub changes: Vec<Change>,
    /// What differs beside accesses. What became wider comes first.
    pub settings: Vec<Setting>,
    /// What could not be compared within bounds.
    pub undecided: Vec<Undecided>,
}

/// Something that could not be compared within bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Undecided {
    /// Where.
    pub domain: Domain,
    /// Why.
    pub reason: String,
}

impl Difference {
    /// Whether the newer policy allows nothing that the older one does not. It may still be undecided whether it does.
    #[must_use]
    pub fn at_least_as_strict(&self) -> Proof {
        let is_wider =
            self.changes.iter().any(Change::is_wider) || self.settings.iter().any(Setting::is_wider);
        match (is_wider, self.undecided.is_empty()) {
            (true, _) => Proof::Fails,
            (false, true) => Proof::Holds,
            (false, false) => Proof::Undecided,
        }
    }

    /// Whether the policies mean the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.settings.is_empty() && self.undecided.is_empty()
    }
}

/// Compares two policies.
#[must_use]
pub fn difference(old: &Policy, new: &Policy) -> Difference {
    let view = View::of_both(old, new);
    let mut gathered = gather::Gathered::new(&view, old, new);
    each_class(&view, &mut gathered);
    let (mut changes, undecided) = gathered.finish();
    let rank = |change: &Change| {
        let rule = |judged: Judged| (judged.rule == RuleId::DEFAULT, judged.rule);
        (
            !change.is_wider(),
            change.domain,
            rule(change.after),
            rule(change.before),
        )
    };
    changes.sort_by_key(rank);
    let mut settings = settings::compare(old, new);
    settings.sort_by_key(|setting| (!setting.is_wider(), setting.topic));
    Difference {
        changes,
        settings,
        undecided,
    }
}

/// Whether `new` allows nothing that `old` does not, and what shows that it does.
#[must_use]
pub fn at_least_as_strict(new: &Policy, old: &Policy) -> (Proof, Difference) {
    let difference = difference(old, new);
    (difference.at_least_as_strict(), difference)
}

/// Tells of every class of accesses that the rules of a view tell apart, but for those that are as before in all cells.
pub(crate) fn each_class(view: &View<'_>, out: &mut dyn Classes) {
    for access in [FileAccess::Read, FileAccess::Write, FileAccess::Execute] {
        out.enter(Domain::Files, access.word());
        files::explore(view, access, out);
    }
    for verb in [Verb::Connect, Verb::Bind] {
        for protocol in [Protocol::Tcp, Protocol::Udp] {
            out.enter(Domain::Network, &format!("{} {}", verb.word(), protocol.word()));
            network::explore(view, verb, protocol, out);
        }
    }
    out.enter(Domain::Environment, "env");
    environment::explore(view, out);
    out.enter(Domain::Syscalls, "syscall");
    syscalls::explore(view, out);
}
