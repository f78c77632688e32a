//! Paths as `file:` addresses and back.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;

/// The path of a `file:` address on this machine. What is open without a file has none.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let encoded = rest.strip_prefix("localhost").unwrap_or(rest);
    if !encoded.starts_with('/') {
        return None;
    }
    let path = PathBuf::from(OsString::from_vec(decoded(encoded)?));
    // Through the real folder, so that two ways to one file are one file. The file itself may not be there yet.
    let folder = std::fs::canonicalize(path.parent()?).unwrap_or(path.parent()?.to_owned());
    Some(folder.join(path.file_name()?))
}

fn decoded(encoded: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let value = digit(rest.next())? * 16 + digit(rest.next())?;
        bytes.push(u8::try_from(value).ok()?);
    }
    // A NUL is in no path.
    (!bytes.contains(&0)).then_some(bytes)
}

/// The address of an absolute path.
pub(crate) fn of(path: &Path) -> Option<Uri> {
    let mut text = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(*byte))
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    Uri::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_comes_back_from_its_address() {
        for text in [
            "/a b/c.remit",
            "/\u{e9}/%41.remit",
            "/a#b?c/x.remit",
            "/~/x\"y.remit",
        ] {
            let uri = of(Path::new(text)).unwrap();
            assert_eq!(path(&uri), Some(PathBuf::from(text)), "{}", uri.as_str());
        }
        let bytes = PathBuf::from(OsString::from_vec(b"/nowhere/\xff.remit".to_vec()));
        assert_eq!(path(&of(&bytes).unwrap()), Some(bytes));
    }

    #[test]
    fn what_is_no_local_file_has_no_path() {
        for text in [
            "untitled:Untitled-1",
            "file://host/a",
            "file:///a%00b",
            "https://example.com/a",
        ] {
            assert_eq!(path(&Uri::from_str(text).unwrap()), None, "{text}");
        }
    }
}
