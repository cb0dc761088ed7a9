//! Which crate may depend on which.
//!
//! Dependencies point downwards only. A new arrow is a decision, so it fails
//! here until it is written into the table and into `ARCHITECTURE.md`.

use super::Problem;
use crate::workspace::{Kind, Package};

/// What each crate may depend on among our own.
const ARROWS: [(&str, &[&str]); 20] = [
    ("falconer-protocol", &[]),
    ("falconer-secret", &[]),
    ("falconer-process", &[]),
    ("falconer-event", &["falconer-protocol"]),
    ("falconer-scenario", &[]),
    ("falconer-rule", &[]),
    (
        // A helper that prints a key is a process like any other.
        "falconer-model",
        &[
            "falconer-protocol",
            "falconer-process",
            "falconer-scenario",
            "falconer-secret",
        ],
    ),
    (
        "falconer-engine",
        &[
            "falconer-model",
            "falconer-protocol",
            "falconer-rule",
            "falconer-process",
            "falconer-scenario",
            "falconer-secret",
            "falconer-transcript",
        ],
    ),
    (
        "falconer-transcript",
        &["falconer-protocol", "falconer-process", "falconer-secret"],
    ),
    (
        "falconer",
        &[
            "falconer-protocol",
            "falconer-process",
            "falconer-secret",
            "falconer-transcript",
        ],
    ),
    (
        "falconer-native",
        &[
            "falconer",
            "falconer-engine",
            "falconer-scenario",
            "falconer-secret",
        ],
    ),
    (
        "falconer-choice",
        &[
            "falconer",
            // A helper of a project counts only if the project is trusted.
            "falconer-engine",
            "falconer-event",
            "falconer-native",
            // It holds the variables that were taken out of the environment of the process.
            "falconer-process",
            "falconer-scenario",
            "falconer-secret",
        ],
    ),
    ("falconer-store", &["falconer-event"]),
    (
        "falconer-session",
        &[
            "falconer",
            "falconer-event",
            "falconer-protocol",
            "falconer-rule",
            "falconer-secret",
        ],
    ),
    (
        // It ends the processes of a hub that died, which only that crate can find.
        "falconer-hub",
        &[
            "falconer-session",
            "falconer-store",
            "falconer-event",
            "falconer-rule",
            "falconer-process",
            "falconer",
        ],
    ),
    (
        "falconer-server",
        &[
            "falconer-hub",
            "falconer-session",
            "falconer-store",
            "falconer-event",
            "falconer-rule",
        ],
    ),
    ("falconer-cassette", &["falconer", "falconer-secret"]),
    (
        "falconer-cli",
        &[
            "falconer-server",
            "falconer-hub",
            "falconer-store",
            "falconer-session",
            "falconer-choice",
            "falconer-native",
            "falconer-engine",
            "falconer-scenario",
            "falconer-event",
            "falconer-rule",
            // `record` and `replay` are its recorder and its player.
            "falconer-cassette",
            // It closes the process at its start.
            "falconer-process",
            "falconer-secret",
            "falconer",
        ],
    ),
    (
        "falconer-testkit",
        &["falconer-cassette", "falconer-scenario"],
    ),
    ("xtask", &[]),
];

/// Tests of any crate may use the test kit.
const TEST_KIT: &str = "falconer-testkit";

/// What tests may use besides: one suite runs on several engines.
const TEST_ARROWS: [(&str, &str); 9] = [
    // Its examples show the names under which users see its types.
    ("falconer-transcript", "falconer"),
    ("falconer-session", "falconer-native"),
    ("falconer-hub", "falconer-native"),
    ("falconer-hub", "falconer-scenario"),
    ("falconer-server", "falconer"),
    ("falconer-server", "falconer-native"),
    ("falconer-server", "falconer-scenario"),
    ("falconer-testkit", "falconer"),
    ("falconer-testkit", "falconer-secret"),
];

pub(super) fn check(packages: &[Package]) -> Vec<Problem> {
    packages
        .iter()
        .flat_map(|package| check_package(package, packages))
        .collect()
}

fn check_package(package: &Package, packages: &[Package]) -> Vec<Problem> {
    let place = format!("{}/Cargo.toml", package.folder);
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
        let text = format!(
            "the crate `{}` is new: add it to the table in `xtask/src/tidy/arrows.rs` and to `ARCHITECTURE.md`",
            package.name
        );
        return vec![Problem::new(place, text)];
    };
    let ours = package
        .dependencies
        .iter()
        .filter(|found| packages.iter().any(|other| other.name == found.name));
    let wrong = ours.filter(|found| {
        let for_tests = found.name == TEST_KIT
            || TEST_ARROWS.contains(&(package.name.as_str(), found.name.as_str()));
        let is_test_only = found.kind == Kind::Dev && for_tests;
        !allowed.contains(&found.name.as_str()) && !is_test_only
    });
    wrong
        .map(|found| {
            Problem::new(
                place.clone(),
                complaint(&package.name, &found.name, found.kind),
            )
        })
        .collect()
}

fn complaint(from: &str, to: &str, kind: Kind) -> String {
    let kind = match kind {
        Kind::Normal => "",
        Kind::Dev => " in its tests",
        Kind::Build => " in its build script",
    };
    format!(
        "`{from}` must not depend on `{to}`{kind}: move the code to the crate it belongs to, or, if the arrow is \
         meant, add it to `xtask/src/tidy/arrows.rs` and say why in `ARCHITECTURE.md` and in the commit"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn package(name: &str, dependencies: &[(&str, Kind)]) -> Package {
        let dependencies = dependencies.iter();
        Package {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            dependencies: dependencies
                .map(|&(name, kind)| Dependency {
                    name: name.to_owned(),
                    kind,
                })
                .collect(),
            ..Package::default()
        }
    }

    #[test]
    fn only_the_arrows_in_the_table_pass() {
        let table = [
            ("falconer", "falconer-protocol", Kind::Normal, true),
            ("falconer", "serde", Kind::Normal, true),
            ("falconer", "falconer-testkit", Kind::Dev, true),
            ("falconer", "falconer-testkit", Kind::Normal, false),
            ("falconer-cli", "falconer-testkit", Kind::Dev, true),
            ("falconer-cli", "falconer-testkit", Kind::Normal, false),
            ("falconer", "falconer-engine", Kind::Normal, false),
            ("falconer-engine", "falconer", Kind::Dev, false),
            ("falconer-session", "falconer-native", Kind::Dev, true),
            ("falconer-session", "falconer-native", Kind::Normal, false),
            ("falconer-protocol", "falconer-process", Kind::Normal, false),
            ("falconer-protocol", "xtask", Kind::Build, false),
        ];
        for (from, to, kind, passes) in table {
            let mut packages: Vec<Package> = ARROWS.map(|(name, _)| package(name, &[])).into();
            packages.retain(|other| other.name != from);
            packages.push(package(from, &[(to, kind)]));
            let problems = check(&packages);
            assert_eq!(
                problems.is_empty(),
                passes,
                "{from} -> {to} {kind:?}: {problems:?}"
            );
            assert!(
                problems
                    .iter()
                    .all(|problem| problem.text.contains("ARCHITECTURE.md"))
            );
        }
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_told_where_to_register() {
        let problems = check(&[package("falconer-utils", &[])]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].text.contains("arrows.rs"), "{problems:?}");
    }

    #[test]
    fn the_table_itself_points_downwards() {
        let mut settled: Vec<&str> = Vec::new();
        let mut open: Vec<(&str, &[&str])> = ARROWS.to_vec();
        while !open.is_empty() {
            let before = open.len();
            open.retain(|(name, needs)| {
                let is_settled = needs.iter().all(|need| settled.contains(need));
                if is_settled {
                    settled.push(name);
                }
                !is_settled
            });
            assert!(open.len() < before, "a circle among {open:?}");
        }
    }
}
