//! Links the executables so that they start quickly and take little memory.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if packs_relocations() {
        // One megabyte less to read and to relocate at every start.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The loader of the system has to understand them: glibc does since 2.36. Debug builds are not
/// worth it.
fn packs_relocations() -> bool {
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_native = std::env::var("TARGET") == std::env::var("HOST");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    is_native
        && is_release
        && target("OS") == "linux"
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
