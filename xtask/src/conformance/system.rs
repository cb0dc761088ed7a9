//! Programs of the operating system that the tests need.
//!
//! On Debian and its relatives they are installed when we are root. Anybody
//! else is told what is missing and what to type.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::Install;
use crate::process;

const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Something that must be there, and the Debian package that brings it.
#[derive(Debug)]
struct Need {
    what: &'static str,
    package: &'static str,
    is_met: fn() -> bool,
}

const NEEDS: [Need; 11] = [
    Need {
        what: "bwrap",
        package: "bubblewrap",
        is_met: || found("bwrap"),
    },
    Need {
        what: "socat",
        package: "socat",
        is_met: || found("socat"),
    },
    Need {
        what: "curl",
        package: "curl",
        is_met: || found("curl"),
    },
    Need {
        what: "jq",
        package: "jq",
        is_met: || found("jq"),
    },
    Need {
        what: "strace",
        package: "strace",
        is_met: || found("strace"),
    },
    Need {
        what: "ip",
        package: "iproute2",
        is_met: || found("ip"),
    },
    Need {
        what: "chromium",
        package: "chromium",
        is_met: || found("chromium"),
    },
    Need {
        what: "node",
        package: "nodejs",
        is_met: || found("node"),
    },
    Need {
        what: "npm",
        package: "npm",
        is_met: || found("npm"),
    },
    Need {
        what: "python3",
        package: "python3",
        is_met: || found("python3"),
    },
    Need {
        what: "python3's modules venv and ensurepip",
        package: "python3-venv",
        is_met: has_venv,
    },
];

pub(super) fn ensure(install: Install, note: &mut dyn FnMut(&str)) -> Result<()> {
    let missing = missing(&NEEDS);
    if missing.is_empty() {
        return Ok(());
    }
    if !found("apt-get") || install == Install::Forbidden || !is_root()? {
        bail!(advice(&missing));
    }
    note(&format!("installing {}", packages(&missing).join(" ")));
    apt(&["update", "--quiet"], note)?;
    let mut arguments = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
    arguments.extend(packages(&missing));
    apt(&arguments, note)?;
    match self::missing(&NEEDS) {
        still if still.is_empty() => Ok(()),
        still => bail!("`apt-get install` succeeded, yet {}", advice(&still)),
    }
}

fn missing(needs: &'static [Need]) -> Vec<&'static Need> {
    needs.iter().filter(|need| !(need.is_met)()).collect()
}

fn packages(missing: &[&Need]) -> Vec<&'static str> {
    missing.iter().map(|need| need.package).collect()
}

fn advice(missing: &[&Need]) -> String {
    let what: Vec<&str> = missing.iter().map(|need| need.what).collect();
    format!(
        "the tests need programs that are missing: {}\nhint: on Debian or Ubuntu run `sudo apt-get install {}`, \
         elsewhere install the same programs with your package manager; then run `cargo xtask test` again",
        what.join(", "),
        packages(missing).join(" ")
    )
}

fn apt(arguments: &[&str], note: &mut dyn FnMut(&str)) -> Result<()> {
    let mut command = Command::new("apt-get");
    command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive");
    let status = process::stream(&mut command, LIMIT, |line| note(line))?;
    if !status.success() {
        bail!("{} failed ({status})", process::shown(&command));
    }
    Ok(())
}

fn found(program: &str) -> bool {
    process::find_program(program).is_some()
}

fn has_venv() -> bool {
    process::capture(Command::new("python3").args(["-c", "import venv, ensurepip"])).is_ok()
}

fn is_root() -> Result<bool> {
    Ok(process::capture(Command::new("id").arg("-u"))?.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    static SAMPLE: [Need; 3] = [
        Need {
            what: "one",
            package: "package-one",
            is_met: || false,
        },
        Need {
            what: "two",
            package: "package-two",
            is_met: || true,
        },
        Need {
            what: "three",
            package: "package-three",
            is_met: || false,
        },
    ];

    #[test]
    fn advice_names_what_is_missing_and_what_to_type() {
        let text = advice(&missing(&SAMPLE));
        assert!(text.contains("missing: one, three\n"), "{text}");
        assert!(
            text.contains("`sudo apt-get install package-one package-three`"),
            "{text}"
        );
        assert!(!text.contains("two"), "{text}");
    }
}
