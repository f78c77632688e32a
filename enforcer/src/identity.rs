//! Dynamic identities: a user id for one run, which no account and no other run has.
//!
//! The range is the one systemd's `DynamicUser=` uses. A lock on one byte of a file that all instances share says
//! that an id is taken; it ends with the supervisor, whatever happens to that.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::sys;

const FIRST: u32 = 61_184;
const LAST: u32 = 65_519;

/// The locks of all instances. A file rather than a directory entry for each id, so that nothing is left behind.
const LOCKS: &str = "/run/remit.uids";

/// An id that is this run's while the value lives. The group id has the same number.
#[derive(Debug)]
pub(crate) struct DynamicId {
    pub(crate) id: u32,
    _lock: File,
}

/// Takes a free id. `seed` spreads concurrent runs over the range.
pub(crate) fn allocate(seed: u32) -> io::Result<DynamicId> {
    let locks = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(LOCKS)?;
    let accounts = [
        fs::read_to_string("/etc/passwd"),
        fs::read_to_string("/etc/group"),
    ]
    .map(|text| text.unwrap_or_default());
    let count = LAST - FIRST + 1;
    for step in 0..count {
        let id = FIRST + (seed % count + step) % count;
        if has_account(&accounts, id)
            || Path::new("/run/systemd/dynamic-uid")
                .join(id.to_string())
                .exists()
        {
            continue;
        }
        if sys::lock::try_lock_byte(&locks, id)? {
            return Ok(DynamicId { id, _lock: locks });
        }
    }
    Err(io::Error::new(
        io::ErrorKind::QuotaExceeded,
        "every dynamic user id is taken",
    ))
}

/// Third field of passwd(5) and group(5).
fn has_account(accounts: &[String], id: u32) -> bool {
    let id = id.to_string();
    accounts
        .iter()
        .flat_map(|text| text.lines())
        .any(|line| line.split(':').nth(2) == Some(&id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_with_an_account_is_seen_whatever_else_has_that_number() {
        let accounts = [
            "a:x:61184:5::/:/bin/sh\nb:x:7:61185::/:/bin/sh\n".to_owned(),
            "g:x:61186:\n".to_owned(),
        ];
        assert!(has_account(&accounts, 61_184));
        assert!(!has_account(&accounts, 61_185));
        assert!(has_account(&accounts, 61_186));
    }
}
