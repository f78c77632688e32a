//! What one start leaves for the next, in the instance's state directory, which only root may enter.
//!
//! It is a convenience: what is not there, or not as it was written, is made again. What is read back is exactly what
//! was written, or nothing.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::instance::{Instance, make_private};

/// When there are more than these, all go: whoever comes back makes theirs again.
const ENTRIES_MAX: usize = 64;
/// Of one entry.
const BYTES_MAX: u64 = 64 << 20;
const DIGEST_LEN: usize = 32;

/// Bytes by name, for an instance.
#[derive(Debug, Clone)]
pub struct Kept {
    directory: PathBuf,
}

impl Kept {
    /// Those of an instance. Touches nothing.
    #[must_use]
    pub fn of(instance: &Instance) -> Self {
        Self {
            directory: instance.state_dir().join("kept"),
        }
    }

    /// A name for something that was made from these inputs and nothing else.
    #[must_use]
    pub fn name<'a>(inputs: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut hash = Sha256::new();
        for input in inputs {
            // Lengths keep neighbours apart.
            hash.update(u64::try_from(input.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(input);
        }
        crate::event::hex(&hash.finalize())
    }

    /// What was kept under a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = File::options()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(self.directory.join(name))
            .ok()?;
        let found = file.metadata().ok()?;
        let is_ours = found.is_file() && found.uid() == 0 && found.mode() & 0o077 == 0;
        if !is_ours || found.len() > BYTES_MAX {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(found.len()).ok()?.saturating_add(1));
        file.read_to_end(&mut bytes).ok()?;
        let (digest, _) = bytes.split_first_chunk::<DIGEST_LEN>()?;
        let content = bytes.get(DIGEST_LEN..)?;
        // A crash may have left half of it.
        (digest[..] == Sha256::digest(content)[..]).then(|| content.to_vec())
    }

    /// Keeps something under a name. The instance must have been entered.
    ///
    /// # Errors
    /// When the directory or the file cannot be written.
    pub fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        make_private(&self.directory).map_err(io::Error::other)?;
        let entries = std::fs::read_dir(&self.directory)?.collect::<io::Result<Vec<_>>>()?;
        if entries.len() >= ENTRIES_MAX {
            for entry in entries {
                // Another start may do the same.
                let _ = std::fs::remove_file(entry.path());
            }
        }
        let fresh = self.directory.join(format!("{name}.{}", std::process::id()));
        let written = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh)
            .and_then(|mut file| {
                file.write_all(&Sha256::digest(content))?;
                file.write_all(content)
            })
            .and_then(|()| std::fs::rename(&fresh, self.directory.join(name)));
        if written.is_err() {
            let _ = std::fs::remove_file(&fresh);
        }
        written
    }
}
