//! Links the executables so that they start quickly and take little memory.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if is_small() {
        // `strip` of the profile does not reach a package that has settings of its own in it.
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
    if packs_relocations() {
        // One megabyte less to read and to relocate at every start.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// An executable for users, on a system whose linker we know.
fn is_small() -> bool {
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    is_release && target("OS") == "linux"
}

fn target(name: &str) -> String {
    std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default()
}

/// The loader of the system has to understand them: glibc does since 2.36. Debug builds are not
/// worth it.
fn packs_relocations() -> bool {
    let is_native = std::env::var("TARGET") == std::env::var("HOST");
    is_native
        && is_small()
        && target("ENV") == "gnu"
        && glibc().is_some_and(|version| version >= (2, 36))
}

/// `glibc 2.36`
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
