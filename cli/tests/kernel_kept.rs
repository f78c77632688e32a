//! A policy that was compiled before: when that is used again, and when it must not be.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;

/// A policy that grants `data`, a link to `first`; beside that is `second`.
struct Stage {
    folder: tempfile::TempDir,
    instance: String,
}

impl Stage {
    fn new(name: &str) -> Self {
        let stage = Self {
            folder: remit::folder(),
            instance: format!("k{}-{name}", std::process::id()),
        };
        fs::set_permissions(stage.folder.path(), fs::Permissions::from_mode(0o755)).expect("mode 755");
        for place in ["first", "second", "work"] {
            fs::create_dir(stage.path(place)).expect("a folder");
            fs::write(stage.path(place).join("name"), place).expect("written");
        }
        symlink("first", stage.path("data")).expect("a link");
        let grant = format!("        allow read \"{}\"\n", stage.path("data").display());
        let policy = remit::SMALL.replace("    filesystem {\n", &format!("    filesystem {{\n{grant}"));
        fs::write(stage.path("small.remit"), policy).expect("written");
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whether the run can read the file in a place.
    fn reads(&self, place: &str) -> bool {
        let file = self.path(place).join("name");
        let command = format!("cat {} 2>/dev/null || exit 9", file.display());
        let mut run = remit::remit();
        run.current_dir(self.path("work"))
            .args(["run", "../small.remit", "--quiet", "--instance", &self.instance])
            .args(["--", "sh", "-c", &command]);
        let outcome = remit::output(&mut run);
        match outcome.code {
            Some(0) => outcome.stdout == place,
            Some(9) => false,
            code => panic!("{code:?}: {}", outcome.stderr),
        }
    }

    /// The files that are kept: what is written again is another file.
    fn kept(&self) -> Vec<(PathBuf, u64)> {
        let directory = PathBuf::from("/run").join(&self.instance).join("kept");
        let entries = fs::read_dir(directory).into_iter().flatten();
        let mut found: Vec<_> = entries
            .map(|entry| {
                let entry = entry.expect("an entry");
                (entry.path(), entry.metadata().expect("a file").ino())
            })
            .collect();
        found.sort();
        found
    }

    fn only(&self) -> (PathBuf, u64) {
        let kept = self.kept();
        assert_eq!(kept.len(), 1, "{kept:?}");
        kept[0].clone()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = remit::remit()
            .args(["unload", "--instance", &self.instance])
            .output();
    }
}

#[test]
fn the_same_policy_is_compiled_once() {
    let stage = Stage::new("once");
    assert!(stage.reads("first"));
    let kept = stage.only();
    assert_eq!(fs::metadata(&kept.0).expect("a file").mode() & 0o777, 0o600);
    assert!(stage.reads("first") && !stage.reads("second"));
    assert_eq!(stage.only(), kept);
}

#[test]
fn a_link_that_leads_elsewhere_now_is_followed_anew() {
    let stage = Stage::new("link");
    assert!(stage.reads("first") && !stage.reads("second"));
    let kept = stage.only();
    fs::remove_file(stage.path("data")).expect("removed");
    symlink("second", stage.path("data")).expect("a link");
    assert!(stage.reads("second") && !stage.reads("first"));
    assert_ne!(stage.only(), kept);
}

#[test]
fn another_text_is_another_policy() {
    let stage = Stage::new("text");
    assert!(stage.reads("first"));
    let kept = stage.only();
    let text = fs::read_to_string(stage.path("small.remit")).expect("text");
    let closed = text.replace("allow read \"/var", "deny read \"/var");
    assert_ne!(text, closed);
    fs::write(stage.path("small.remit"), closed).expect("written");
    assert!(!stage.reads("first"));
    fs::write(stage.path("small.remit"), text).expect("written");
    assert!(stage.reads("first"));
    assert!(stage.kept().contains(&kept));
}

#[test]
fn what_was_damaged_or_is_not_roots_alone_is_made_again() {
    let stage = Stage::new("damage");
    assert!(stage.reads("first"));
    let (path, mut inode) = stage.only();
    let whole = fs::read(&path).expect("bytes");
    let mut half = whole.clone();
    half.truncate(whole.len() / 2);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for content in [half, flipped, Vec::new()] {
        fs::write(&path, content).expect("written");
        assert!(stage.reads("first"));
        let (_, now) = stage.only();
        assert_ne!(now, inode);
        assert_eq!(fs::read(&path).expect("bytes"), whole);
        inode = now;
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
    assert!(stage.reads("first"));
    assert_ne!(stage.only().1, inode);
}

#[test]
fn what_is_said_of_a_policy_is_said_each_time() {
    let stage = Stage::new("warn");
    let text = fs::read_to_string(stage.path("small.remit")).expect("text");
    let absent = text.replace(
        "allow read \"/var",
        "allow read \"/nonexistent\"\n        allow read \"/var",
    );
    fs::write(stage.path("small.remit"), absent).expect("written");
    for _ in 0..2 {
        let mut run = remit::remit();
        run.current_dir(stage.path("work")).args([
            "run",
            "../small.remit",
            "--instance",
            &stage.instance,
            "--",
            "true",
        ]);
        let outcome = remit::output(&mut run);
        assert!(outcome.stderr.contains("/nonexistent"), "{}", outcome.stderr);
    }
    assert_eq!(stage.kept(), []);
}

#[test]
fn a_file_that_the_policy_includes_is_read_anew() {
    let stage = Stage::new("include");
    let group = |place: &str| {
        let place = stage.path(place);
        let text = format!(
            "group local::data {{\n    summary \"One folder.\"\n    filesystem {{ allow read \"{}\" }}\n}}\n",
            place.display()
        );
        fs::write(stage.path("groups.remit"), text).expect("written");
    };
    group("first");
    let text = fs::read_to_string(stage.path("small.remit")).expect("text");
    let line = text
        .lines()
        .find(|line| line.contains("/data\""))
        .expect("the grant");
    let text = text
        .replace(line, "")
        .replace("    param", "    use local::data\n    param");
    fs::write(
        stage.path("small.remit"),
        format!("include \"groups.remit\"\n{text}"),
    )
    .expect("written");
    assert!(stage.reads("first") && !stage.reads("second"));
    let kept = stage.only();
    group("second");
    assert!(stage.reads("second") && !stage.reads("first"));
    assert_ne!(stage.only(), kept);
}
