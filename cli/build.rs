//! Links everything into the program: the C library and the unwinder, position-independent as before.
//!
//! A run starts this program twice. Finding, mapping and relocating a shared C library takes a third of a millisecond
//! each time, most of it page faults; in a virtual machine `libgcc_s.so.1` alone asks the processor for its features,
//! which traps, for as long as a namespace takes. Where an archive is missing, or the compiler is not GCC's kind, the
//! program is linked as always.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the standard library links to, and the archives that hold it. All but the first two are empty since glibc 2.34,
/// or hold what nothing here needs.
const LIBRARIES: [(&str, &[&str]); 7] = [
    ("gcc_s", &["libgcc_eh.a", "libgcc.a"]),
    ("c", &["libc.a"]),
    ("m", &["libm.a"]),
    ("util", &["libutil.a"]),
    ("rt", &["librt.a"]),
    ("pthread", &["libpthread.a"]),
    ("dl", &["libdl.a"]),
];

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
    let scripts: Option<Vec<(&str, String)>> = LIBRARIES
        .into_iter()
        .map(|(library, archives)| Some((library, script(archives)?)))
        .collect();
    let Some(scripts) = scripts else { return };
    // Linker scripts under the names that the standard library asks for.
    for (library, script) in scripts {
        if std::fs::write(out.join(format!("lib{library}.so")), script).is_err() {
            return;
        }
    }
    // For the program alone: tests are linked as always, and an archive of the C library in them would be a second one.
    println!("cargo::rustc-link-arg-bins=-L{}", out.display());
    println!("cargo::rustc-link-arg-bins=-static-pie");
}

/// Stands for a library and means its archives.
fn script(archives: &[&str]) -> Option<String> {
    let found: Vec<String> = archives.iter().map(|name| archive(name)).collect::<Option<_>>()?;
    Some(format!("INPUT({})\n", found.join(" ")))
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
