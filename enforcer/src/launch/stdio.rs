//! Standard input, output and error are the caller's to give. A directory among them would be a door to the
//! host's own mount tree, where no mask stands, so it is refused.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::FileType;

use super::{Failure, Step};

/// Refuses directories.
pub(super) fn check() -> Result<(), Failure> {
    refuse_directory("standard input", io::stdin().as_fd())?;
    refuse_directory("standard output", io::stdout().as_fd())?;
    refuse_directory("standard error", io::stderr().as_fd())
}

fn refuse_directory(name: &str, descriptor: BorrowedFd<'_>) -> Result<(), Failure> {
    let fail = |error: io::Error| Err(Failure::new(Step::Descriptors, name, &error));
    match rustix::fs::fstat(descriptor) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            fail(io::Error::from_raw_os_error(libc::EISDIR))
        }
        Ok(_) | Err(rustix::io::Errno::BADF) => Ok(()),
        Err(error) => fail(error.into()),
    }
}
