#!/usr/bin/env bash
# Where the toolchain really is: rustup's `cargo` is a proxy that would look into the caller's home.
echo "toolchain=$(rustc --print sysroot)"
