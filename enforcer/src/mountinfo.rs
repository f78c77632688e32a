//! `/proc/self/mountinfo`, as far as the enforcer needs it, see proc_pid_mountinfo(5).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The directory of the file system that is the root of this mount.
    pub(crate) root: PathBuf,
    /// Where it is mounted, relative to this process's root.
    pub(crate) point: PathBuf,
    /// Kernel name of the file system type.
    pub(crate) kind: String,
    /// Options of the file system (not of the mount), comma-separated.
    pub(crate) super_options: String,
}

/// Parses the whole file; a line that does not follow the format is left out.
pub(crate) fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

/// The mounts of this process.
pub(crate) fn read() -> std::io::Result<Vec<Mount>> {
    // The kernel makes the text anew for each read, so it is taken in few large ones.
    let mut text = Vec::with_capacity(65_536);
    std::io::Read::read_to_end(&mut std::fs::File::open("/proc/self/mountinfo")?, &mut text)?;
    Ok(parse(&text))
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let root = path(fields.nth(3)?);
    let point = path(fields.next()?);
    // Optional fields end with a lone dash.
    fields.by_ref().find(|field| *field == b"-")?;
    let kind = String::from_utf8_lossy(fields.next()?).into_owned();
    let super_options = String::from_utf8_lossy(fields.nth(1)?).into_owned();
    Some(Mount {
        root,
        point,
        kind,
        super_options,
    })
}

/// Space, tab, newline and backslash are written as three octal digits.
fn path(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let octal = tail
            .get(..3)
            .filter(|digits| digits.iter().all(|d| (b'0'..=b'7').contains(d)));
        if let (b'\\', Some(digits)) = (first, octal) {
            bytes.push(
                digits
                    .iter()
                    .fold(0u8, |value, d| value.wrapping_mul(8).wrapping_add(d - b'0')),
            );
            rest = tail.get(3..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hybrid_layout_is_read_with_its_optional_fields() {
        let text =
            b"38 31 0:34 / /sys/fs/cgroup/freezer rw,relatime shared:5 master:1 - cgroup cgroup rw,freezer\n\
            41 31 0:38 /deep /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let mounts = parse(text);
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[0].kind, "cgroup");
        assert_eq!(mounts[0].super_options, "rw,freezer");
        assert_eq!(mounts[1].root, PathBuf::from("/deep"));
        assert_eq!(mounts[1].point, PathBuf::from("/sys/fs/cgroup/unified"));
    }

    #[test]
    fn escaped_bytes_in_a_mount_point_are_unescaped() {
        let mounts = parse(b"1 2 0:1 / /a\\040b\\134c\\012 rw - tmpfs none rw\n");
        assert_eq!(mounts[0].point, PathBuf::from("/a b\\c\n"));
    }

    #[test]
    fn a_broken_line_is_left_out() {
        assert!(parse(b"1 2 0:1 / /x rw shared:1\n\n").is_empty());
    }
}
