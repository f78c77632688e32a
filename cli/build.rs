//! Links the unwinder into the program instead of loading `libgcc_s.so.1` with it.
//!
//! A run starts this program twice, and in a virtual machine the library's start-up code alone (it asks the processor
//! for its features, which traps) takes as long as a namespace. Where the compiler has no `libgcc_eh.a`, or is
//! not GCC, the program is linked as always.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let gnu = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    let native = std::env::var("HOST") == std::env::var("TARGET");
    let Some(out) = std::env::var_os("OUT_DIR").map(PathBuf::from) else {
        return;
    };
    if !(gnu && native) {
        return;
    }
    let archives: Vec<String> = ["libgcc_eh.a", "libgcc.a"]
        .into_iter()
        .filter_map(archive)
        .collect();
    if archives.len() == 2 {
        // A linker script under the name that the standard library asks for.
        let script = format!("INPUT({})\n", archives.join(" "));
        if std::fs::write(out.join("libgcc_s.so"), script).is_ok() {
            println!("cargo::rustc-link-search=native={}", out.display());
        }
    }
}

/// Where the linker's driver has an archive.
fn archive(name: &str) -> Option<String> {
    let answer = Command::new("cc")
        .arg(format!("-print-file-name={name}"))
        .output()
        .ok()?;
    let path = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    (Path::new(&path).is_absolute() && Path::new(&path).exists()).then_some(path)
}
