//! JSON lines to a file or to stdout.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use super::SinkError;

/// When this much waits, it is written without waiting for an idle moment.
const BUFFER: usize = 256 * 1024;

/// Appends lines. What is buffered is written when nothing else is to do, and at the end. It is not synced to the
/// disk: a crash of the enforcer loses nothing that was written, a crash of the host up to some seconds (as with
/// auditd's default), and every run would wait for the disk.
#[derive(Debug)]
pub struct JsonLines {
    file: File,
    name: String,
    buffer: Vec<u8>,
}

impl JsonLines {
    /// Opens `path` for appending; `-` is stdout. A new file can be read by its owner alone. A symbolic link is
    /// refused: whoever made it would choose which file root appends to.
    ///
    /// # Errors
    /// When it cannot be opened, or is a directory, a device or a link.
    pub fn open(path: &Path) -> Result<Self, SinkError> {
        if path.as_os_str() == "-" {
            return Self::stdout();
        }
        let failed = |source| SinkError::Open {
            path: path.to_owned(),
            source,
        };
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NOCTTY)
            .open(path)
            .map_err(failed)?;
        let kind = file.metadata().map_err(failed)?.file_type();
        let wrong = |what| {
            Err(SinkError::Kind {
                path: path.to_owned(),
                what,
            })
        };
        if kind.is_block_device() {
            return wrong("block device");
        }
        if kind.is_socket() {
            return wrong("socket");
        }
        Ok(Self {
            file,
            name: path.display().to_string(),
            buffer: Vec::new(),
        })
    }

    /// Writes to stdout.
    ///
    /// # Errors
    /// When stdout is closed.
    pub fn stdout() -> Result<Self, SinkError> {
        let fd = io::stdout()
            .as_fd()
            .try_clone_to_owned()
            .map_err(|source| SinkError::Open {
                path: "-".into(),
                source,
            })?;
        Ok(Self {
            file: File::from(fd),
            name: "stdout".to_owned(),
            buffer: Vec::new(),
        })
    }

    /// Where a line is put together. It must end with a line feed when [`JsonLines::line_done`] is called.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes when enough waits.
    pub(crate) fn line_done(&mut self) -> Result<(), SinkError> {
        if self.buffer.len() >= BUFFER {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// When it cannot be written in full.
    pub fn flush(&mut self) -> Result<(), SinkError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|source| SinkError::Write {
            name: self.name.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{BUFFER, JsonLines, SinkError};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_new_file_is_private_and_an_old_one_is_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        for _ in 0..2 {
            let mut lines = JsonLines::open(&path).unwrap();
            lines.buffer().extend_from_slice(b"{}\n");
            lines.flush().unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"{}\n{}\n");
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        symlink(folder.path().join("elsewhere"), &path).unwrap();
        assert!(matches!(JsonLines::open(&path), Err(SinkError::Open { .. })));
        assert!(!folder.path().join("elsewhere").exists());
    }

    #[test]
    fn a_full_disk_is_an_error_at_once() {
        let mut lines = JsonLines::open(std::path::Path::new("/dev/full")).unwrap();
        lines.buffer().extend(std::iter::repeat_n(b'x', BUFFER));
        assert!(matches!(lines.line_done(), Err(SinkError::Write { .. })));
    }
}
