//! The probes of a policy: one for each boundary, each part of the floor, each group of calls that is refused, and each
//! line of its `test` blocks.

mod boundaries;
mod calls;
mod control;
mod written;

use std::path::{Path, PathBuf};

use policy_lang::policy::Policy;
use policy_lang::reference::Access;

use crate::expect::{Expected, Subject, expected};
use crate::open::allows;
use crate::operation::Operation;
use crate::world::Ports;

/// One thing to prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Unique, for `--only`.
    pub name: String,
    /// What it is about, for people.
    pub boundary: String,
    /// What is tried.
    pub operation: Operation,
    /// What has to come of it.
    pub expected: Expected,
    /// What the policy grants of the same kind.
    pub control: Option<Operation>,
    /// How it is shown that the control is what refuses.
    pub flip: Flip,
    /// A line of the policy that says so.
    pub line: Option<Line>,
}

/// A line of a `test` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// As the language writes it.
    pub text: String,
    /// File and line.
    pub place: (String, u32),
    /// What the model says against it.
    pub disagreement: Option<String>,
    /// The kernel has to be asked, or there is nothing to ask it.
    pub untried: Option<&'static str>,
}

/// How a control is switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flip {
    /// In a run whose policy has these accesses opened, with all other probes of the same key.
    Opened {
        /// What is opened together.
        key: String,
        /// What the policy has to allow.
        accesses: Vec<Access>,
    },
    /// Outside of a run: no grant opens it.
    Outside {
        /// As root; else as the run's own user.
        as_root: bool,
    },
    /// The operation is granted: that it succeeds is the proof.
    NotNeeded,
}

/// What has been prepared for the probes.
#[derive(Debug, Clone)]
pub struct Facts {
    /// This program, which is the prober.
    pub program: String,
    /// A file that everybody could read and write.
    pub outside: String,
    /// A file in the workspace of another run, the same.
    pub neighbour: String,
    /// A process of that run.
    pub neighbour_pid: i32,
    /// A variable of the caller.
    pub variable: String,
    /// A descriptor of the caller.
    pub descriptor: i32,
    /// A program that would change its user.
    pub set_id_program: String,
}

/// Every probe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order of the report.
    pub probes: Vec<Probe>,
}

/// Makes the plan. Pure but for looking whether what serves as a control is there.
#[must_use]
pub fn plan(subject: Subject<'_>, facts: &Facts) -> Plan {
    let controls = control::Controls::of(subject);
    let mut probes = boundaries::probes(subject, facts, &controls);
    probes.extend(calls::probes(subject, &controls));
    probes.extend(written::probes(subject));
    Plan { probes }
}

impl Plan {
    /// Keeps what is asked for: a probe by its name, or all that begin with it.
    pub fn only(&mut self, wanted: &[String]) {
        if !wanted.is_empty() {
            self.probes
                .retain(|probe| wanted.iter().any(|name| probe.name.starts_with(name.as_str())));
        }
    }

    /// Variables that must not be seen and that the caller does not have. Those that change what Remit itself does stay
    /// as they are.
    #[must_use]
    pub fn variables(&self) -> Vec<String> {
        const OWN: [&str; 3] = ["REMIT_LOG", "SUDO_UID", "SUDO_GID"];
        let refused = self
            .probes
            .iter()
            .filter(|probe| probe.expected != Expected::Done);
        let names = refused.filter_map(|probe| match &probe.operation {
            Operation::Variable { name } => Some(name.clone()),
            _ => None,
        });
        names
            .filter(|name| std::env::var_os(name).is_none() && !OWN.contains(&name.as_str()))
            .collect()
    }

    /// Files that tests speak of and that are not there, in places where the run could make them.
    #[must_use]
    pub fn absent(&self, policy: &Policy) -> Vec<PathBuf> {
        let mut absent = Vec::new();
        for probe in self.probes.iter().filter(|probe| probe.line.is_some()) {
            let (Operation::Read { path } | Operation::Execute { path }) = &probe.operation else {
                continue;
            };
            let write = Access::File {
                access: policy_lang::policy::FileAccess::Write,
                path: path.clone(),
            };
            let place = Path::new(path);
            let is_free = place.symlink_metadata().is_err() && place.parent().is_some_and(Path::is_dir);
            if is_free && allows(policy, &write) && !absent.iter().any(|one| one == place) {
                absent.push(place.to_owned());
            }
        }
        absent
    }

    /// Where somebody has to listen.
    #[must_use]
    pub fn ports(&self) -> Ports {
        let mut ports = Ports::default();
        for operation in self.probes.iter().flat_map(Probe::operations) {
            if let Operation::Connect { udp, port, .. } = operation {
                let list = if *udp { &mut ports.udp } else { &mut ports.tcp };
                if *port != 0 {
                    list.push(*port);
                }
            }
        }
        for list in [&mut ports.tcp, &mut ports.udp] {
            list.sort_unstable();
            list.dedup();
        }
        ports
    }
}

impl Probe {
    fn operations(&self) -> impl Iterator<Item = &Operation> {
        std::iter::once(&self.operation).chain(&self.control)
    }

    /// One that the model decides: the grant that opens it is its flip.
    fn by_rules(subject: Subject<'_>, name: &str, boundary: &str, operation: Operation, key: &str) -> Self {
        let expected = expected(subject, &operation);
        let flip = match expected {
            Expected::Done => Flip::NotNeeded,
            Expected::Refused(_) => Flip::Opened {
                key: key.to_owned(),
                accesses: refused(subject.policy, &operation),
            },
        };
        Self {
            name: name.to_owned(),
            boundary: boundary.to_owned(),
            operation,
            expected,
            control: None,
            flip,
            line: None,
        }
    }

    fn with_control(mut self, control: Option<&Operation>) -> Self {
        self.control = control.cloned();
        self
    }
}

/// What of an operation the policy refuses.
fn refused(policy: &Policy, operation: &Operation) -> Vec<Access> {
    let mut accesses = operation.accesses();
    // Making a file changes its directory.
    if let Operation::Write { path } = operation
        && !std::path::Path::new(path).exists()
        && let Some((parent, _)) = path.rsplit_once('/')
    {
        accesses.push(Access::File {
            access: policy_lang::policy::FileAccess::Write,
            path: if parent.is_empty() { "/" } else { parent }.to_owned(),
        });
    }
    accesses.retain(|access| !allows(policy, access));
    accesses
}
