//! Which file the command names, and its arguments and environment as the kernel wants them.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Failure, LaunchSpec, Step};

/// Searched when the run has no `PATH`; the same as execvp(3).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Ready for execve(2).
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: CString,
    pub(super) arguments: Vec<CString>,
    pub(super) environment: Vec<CString>,
}

impl Program {
    /// For messages.
    pub(super) fn shown(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

/// Looks the program up as execvp(3) would, in the run's tree and the run's `PATH`. Whether the run may execute
/// what was found is the kernel's to say.
pub(super) fn find(spec: &LaunchSpec) -> Result<Program, Failure> {
    let name = spec.command.first().cloned().unwrap_or_default();
    let shown = name.to_string_lossy().into_owned();
    let fail = |errno: i32| Failure::new(Step::Program, shown.clone(), &io::Error::from_raw_os_error(errno));
    let path = if name.as_bytes().contains(&b'/') {
        name
    } else {
        search(&name, &path_variable(spec)).ok_or_else(|| fail(libc::ENOENT))?
    };
    let strings = |all: &[OsString]| {
        all.iter()
            .map(|one| CString::new(one.as_bytes()).map_err(|_| fail(libc::EINVAL)))
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(Program {
        path: CString::new(path.as_bytes()).map_err(|_| fail(libc::EINVAL))?,
        arguments: strings(&spec.command)?,
        environment: strings(&spec.environment)?,
    })
}

fn path_variable(spec: &LaunchSpec) -> OsString {
    let found = spec
        .environment
        .iter()
        .find_map(|variable| variable.as_bytes().strip_prefix(b"PATH="));
    OsStr::from_bytes(found.unwrap_or(DEFAULT_PATH.as_bytes())).to_owned()
}

/// The first executable file of that name; failing that the first file, so that the refusal is about it.
fn search(name: &OsStr, path: &OsStr) -> Option<OsString> {
    let mut unusable = None;
    for directory in std::env::split_paths(path) {
        let candidate = if directory.as_os_str().is_empty() {
            Path::new(".").join(name)
        } else {
            directory.join(name)
        };
        let Ok(found) = std::fs::metadata(&candidate) else {
            continue;
        };
        if found.is_file() && found.permissions().mode() & 0o111 != 0 {
            return Some(candidate.into_os_string());
        }
        unusable.get_or_insert(candidate);
    }
    unusable.map(std::path::PathBuf::into_os_string)
}
