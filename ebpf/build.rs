//! Builds the eBPF object with clang, or takes the committed one where there is no clang.
//!
//! `REMIT_BPF_CLANG` names the compiler; `none` asks for the committed object. Only clang is needed: the
//! programs include no header of the machine. A clang that can build for BPF must succeed: falling back then
//! would embed an object that is not what the sources say.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use sha2::{Digest, Sha256};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let output = PathBuf::from(env::var("OUT_DIR")?).join("remit.bpf.o");
    for watched in ["src/programs", "object"] {
        println!("cargo::rerun-if-changed={watched}");
    }
    println!("cargo::rerun-if-env-changed=REMIT_BPF_CLANG");

    let clang = env::var("REMIT_BPF_CLANG").unwrap_or_else(|_| "clang".to_owned());
    let origin = if clang == "none" {
        committed(&root, &output)?
    } else if builds_for_bpf(&clang) {
        build(&clang, &root, &output)?
    } else {
        println!("cargo::warning=no clang that builds for BPF: embedding the committed eBPF object");
        committed(&root, &output)?
    };
    println!("cargo::rustc-env=REMIT_BPF_OBJECT={}", output.display());
    println!("cargo::rustc-env=REMIT_BPF_ORIGIN={origin}");
    println!(
        "cargo::rustc-env=REMIT_BPF_SHA256={}",
        digest(&fs::read(&output)?)
    );
    Ok(())
}

fn builds_for_bpf(clang: &str) -> bool {
    Command::new(clang)
        .args(["-target", "bpf", "-x", "c", "-c", "/dev/null", "-o", "/dev/null"])
        .output()
        .is_ok_and(|output| output.status.success())
}

fn build(clang: &str, root: &Path, output: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let programs = root.join("src/programs");
    let flags = fs::read_to_string(root.join("object/clang-flags"))?;
    let status = Command::new(clang)
        .current_dir(&programs)
        .args(flags.lines())
        .arg(format!("-ffile-prefix-map={}=.", programs.display()))
        .args(["-fdebug-compilation-dir=.", "-c", "remit.bpf.c", "-o"])
        .arg(output)
        .status()?;
    if !status.success() {
        return Err(format!("{clang} cannot build the eBPF programs: {status}").into());
    }
    let version = version(clang)?;
    // Debug sections only make the object larger, so a machine without llvm-strip keeps them.
    let strips = [format!("llvm-strip-{}", major(&version)), "llvm-strip".to_owned()];
    for strip in strips {
        match Command::new(strip).arg("-g").arg(output).status() {
            Ok(status) if status.success() => break,
            Ok(status) => return Err(format!("llvm-strip failed: {status}").into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(version)
}

fn version(clang: &str) -> Result<String, Box<dyn std::error::Error>> {
    let output = Command::new(clang).arg("--version").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = text
        .split_once("clang version ")
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .unwrap_or("of unknown version");
    Ok(format!("clang {number}"))
}

fn major(version: &str) -> &str {
    version
        .trim_start_matches("clang ")
        .split('.')
        .next()
        .unwrap_or_default()
}

/// Copies the committed object, if it is the one whose digest is committed beside it.
fn committed(root: &Path, output: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let object = fs::read(root.join("object/remit.bpf.o"))?;
    let listed = fs::read_to_string(root.join("object/remit.bpf.o.sha256"))?;
    let found = digest(&object);
    if listed.split_whitespace().next() != Some(found.as_str()) {
        return Err(format!("ebpf/object/remit.bpf.o has the digest {found}, not the committed one").into());
    }
    fs::write(output, object)?;
    Ok("the committed object".to_owned())
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
