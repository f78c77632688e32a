//! The launcher: the process that becomes the run.
//!
//! It is this program started again under the name [`ARGV0`], as process 1 of new namespaces, inside the run's
//! cgroup, single-threaded, with nothing but standard input, output and error, a pipe to the supervisor and the
//! spec. `prepare` is the whole launch, one step after the other; nothing else in the project drops a privilege
//! or executes the command.

mod domain;
mod filter;
mod init;
mod mounts;
mod privileges;
mod program;
mod report;
mod spec;
mod start;
mod stdio;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

pub(crate) use report::Report;
pub use report::{Failure, Step};
pub(crate) use spec::{LaunchSpec, Mount, Rlimit, Source};
pub(crate) use start::{Child, Waiting};

use rustix::thread::LinkNameSpaceType;

use crate::sys;

/// `argv[0]` of the launcher.
pub const ARGV0: &str = "remit-launch";

/// Exit code of remit's own failures.
pub const EXIT_FAILURE: u8 = 125;
/// Exit code of a command that exists and cannot be executed.
pub const EXIT_NOT_EXECUTABLE: u8 = 126;
/// Exit code of a command that does not exist.
pub const EXIT_NOT_FOUND: u8 = 127;
/// Exit code of a run that its wall-clock limit ended.
pub const EXIT_WALL: u8 = 124;

/// Whether this process was started as a launcher. Call first in `main`, before any thread exists.
#[must_use]
pub fn requested() -> bool {
    std::env::args_os().next().is_some_and(|name| name == ARGV0)
}

/// The launcher's whole life. Call when [`requested`] and do nothing else.
#[must_use]
pub fn main() -> ExitCode {
    let Some((report, spec, go)) = open_channels() else {
        eprintln!("{ARGV0} is started by remit, not by hand");
        return ExitCode::from(EXIT_FAILURE);
    };
    let Some(told) = be_told(&report, spec, go).transpose() else {
        return ExitCode::from(EXIT_FAILURE);
    };
    match told.and_then(|told| prepare(told, &report)) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let code = exit_code(&failure);
            Report::Failed(failure).send(report.as_fd());
            ExitCode::from(code)
        }
    }
}

/// What the supervisor makes of a failure.
pub(crate) fn exit_code(failure: &Failure) -> u8 {
    match (failure.step, failure.errno) {
        (Step::Execute | Step::Program, libc::ENOENT) => EXIT_NOT_FOUND,
        (Step::Execute | Step::Program, _) => EXIT_NOT_EXECUTABLE,
        _ => EXIT_FAILURE,
    }
}

/// The launch. Returns in process 1, with the command's exit code, when everything of the run has ended.
///
/// What each step needs decides its place: mounts need the host's view and root, Landlock rules are opened in the
/// finished tree, the identity changes while capabilities still allow it, and seccomp comes last because the
/// policy's filter need not allow any of the calls before it.
fn prepare(told: Told, report: &OwnedFd) -> Result<u8, Failure> {
    let Told { spec, ready, masks } = told;
    let step = |step: Step| move |error: io::Error| Failure::new(step, "", &error);
    spec.cgroups.iter().try_for_each(|path| join(path))?;
    // Only now the run's cgroup is this process's own, and so the root of the namespace.
    sys::process::unshare_cgroup().map_err(step(Step::Namespaces))?;
    spec.network.as_deref().map_or(Ok(()), enter_network)?;
    let built = mounts::build(&spec, ready, masks)?;
    enter(&spec)?;
    let program = program::find(&spec)?;
    stdio::check()?;
    privileges::close_all_but(report.as_fd()).map_err(step(Step::Descriptors))?;
    privileges::limit(&spec.rlimits).map_err(step(Step::Limits))?;
    let domain = domain::open(&spec)?;
    privileges::become_user(spec.uid, spec.gid).map_err(step(Step::Identity))?;
    privileges::drop_capabilities().map_err(step(Step::Capabilities))?;
    rustix::thread::set_no_new_privs(true).map_err(|error| step(Step::NoNewPrivileges)(error.into()))?;
    // A change of ids forgets the parent-death signal and makes the process dumpable or not as the host is set up.
    privileges::die_with_supervisor(report.as_fd()).map_err(step(Step::Identity))?;
    domain.enter()?;

    init::run(&spec, report.as_fd(), || {
        if built.memory_programs {
            sys::seccomp::install(&filter::NO_FILES_IN_MEMORY).map_err(step(Step::Seccomp))?;
        }
        sys::seccomp::install(&spec.seccomp).map_err(step(Step::Seccomp))?;
        let error = sys::process::execute(&program.path, &program.arguments, &program.environment);
        Err(Failure::new(Step::Execute, program.shown(), &error))
    })
}

/// What to do, and what was made meanwhile.
struct Told {
    spec: LaunchSpec,
    ready: mounts::Ready,
    masks: Option<OwnedFd>,
}

/// Waits until the supervisor has written the spec. Nothing when it gave up.
fn be_told(report: &OwnedFd, spec: OwnedFd, go: OwnedFd) -> Result<Option<Told>, Failure> {
    let step = |step: Step| move |error: io::Error| Failure::new(step, "", &error);
    privileges::die_with_supervisor(report.as_fd()).map_err(step(Step::Start))?;
    // Both take a while and need no spec.
    let ready = mounts::Ready::make()?;
    privileges::empty_bounding_set().map_err(step(Step::Capabilities))?;
    let Some(masks) = start::wait(go.as_fd()).map_err(step(Step::Spec))? else {
        return Ok(None);
    };
    let spec = LaunchSpec::read(spec).map_err(step(Step::Spec))?;
    Ok(Some(Told { spec, ready, masks }))
}

/// The report pipe, the spec and the socket that says when the spec is there: their numbers are the arguments.
fn open_channels() -> Option<(OwnedFd, OwnedFd, OwnedFd)> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<i32>());
    let mut channel = || numbers.next()?.ok().filter(|number| *number > 2);
    let (report, spec, go) = (channel()?, channel()?, channel()?);
    if report == spec || spec == go || go == report {
        return None;
    }
    let inherit = |number| sys::process::inherit(number).ok();
    Some((inherit(report)?, inherit(spec)?, inherit(go)?))
}

fn join(cgroup: &str) -> Result<(), Failure> {
    std::fs::write(format!("{cgroup}/cgroup.procs"), "0")
        .map_err(|error| Failure::new(Step::Cgroups, cgroup, &error))
}

fn enter_network(namespace: &OsStr) -> Result<(), Failure> {
    let entered = File::open(namespace).and_then(|file| {
        let kind = Some(LinkNameSpaceType::Network);
        Ok(rustix::thread::move_into_link_name_space(file.as_fd(), kind)?)
    });
    entered.map_err(|error| Failure::new(Step::Namespaces, namespace.to_string_lossy(), &error))
}

fn enter(spec: &LaunchSpec) -> Result<(), Failure> {
    std::env::set_current_dir(&spec.working_directory).map_err(|error| {
        Failure::new(
            Step::WorkingDirectory,
            spec.working_directory.to_string_lossy(),
            &error,
        )
    })
}
