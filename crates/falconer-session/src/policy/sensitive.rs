//! Files that usually hold secrets.

use std::sync::LazyLock;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Matched without regard to case, in every directory.
const PATTERNS: [&str; 46] = [
    "**/.env",
    "**/.env.*",
    "**/.env-*",
    "**/*.env",
    "**/.envrc",
    "**/.netrc",
    "**/_netrc",
    "**/.npmrc",
    "**/.pypirc",
    "**/.pgpass",
    "**/.my.cnf",
    "**/.htpasswd",
    "**/.git-credentials",
    "**/.dockercfg",
    "**/.docker/config.json",
    "**/.kube/config",
    "**/.aws/credentials",
    "**/.aws/config",
    "**/.azure/**",
    "**/.config/gcloud/**",
    "**/.config/gh/hosts.yml",
    "**/.gnupg/**",
    "**/.ssh/**",
    "**/.password-store/**",
    "**/.claude.json",
    "**/.claude.json.api",
    "**/.claude/.credentials.json",
    "**/.claude-oauth-credentials.json",
    "**/.cargo/credentials",
    "**/.cargo/credentials.toml",
    "**/.terraformrc",
    "**/*.tfstate",
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/*.pfx",
    "**/*.jks",
    "**/*.keystore",
    "**/*.kdbx",
    "**/id_rsa*",
    "**/id_dsa*",
    "**/id_ecdsa*",
    "**/id_ed25519*",
    "**/secrets.{yml,yaml,json,toml}",
    "**/service-account*.json",
    "/proc/**/environ",
];

/// Everything the built-in list covers.
pub fn sensitive_patterns() -> &'static [&'static str] {
    &PATTERNS
}

static SET: LazyLock<GlobSet> = LazyLock::new(|| {
    let mut set = GlobSetBuilder::new();
    for pattern in PATTERNS {
        let glob = GlobBuilder::new(pattern)
            .case_insensitive(true)
            .literal_separator(true)
            .build();
        // A test builds them all.
        if let Ok(glob) = glob {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
});

/// The pattern that covers a path, if one does. What is public or an example is not covered.
pub(super) fn matching(path: &str) -> Option<&'static str> {
    let lower = path.to_ascii_lowercase();
    let harmless = [".example", ".sample", ".template", ".pub"];
    if harmless.iter().any(|end| lower.ends_with(end)) {
        return None;
    }
    let first = SET.matches(path).into_iter().next()?;
    PATTERNS.get(first).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_counts() {
        assert_eq!(SET.len(), PATTERNS.len());
    }

    #[test]
    fn secrets_are_covered_wherever_they_are() {
        let covered = [
            ".env",
            "a/.env",
            "/a/b/c/.env",
            ".env.local",
            ".env.production",
            "web/.env.test.local",
            ".env-prod",
            "prod.env",
            ".ENV",
            ".envrc",
            ".netrc",
            "/root/.netrc",
            ".npmrc",
            "pkg/.npmrc",
            ".pypirc",
            ".pgpass",
            ".my.cnf",
            ".htpasswd",
            ".git-credentials",
            "/home/u/.docker/config.json",
            "/home/u/.kube/config",
            "/home/u/.aws/credentials",
            ".aws/config",
            "/home/u/.azure/a/b",
            "/home/u/.config/gcloud/x/credentials.db",
            ".config/gh/hosts.yml",
            ".gnupg/private-keys-v1.d/x",
            ".ssh/id_rsa",
            ".ssh/config",
            "/home/u/.ssh/keys/deep/x",
            ".password-store/a.gpg",
            "/home/u/.claude.json",
            ".claude/.credentials.json",
            ".cargo/credentials.toml",
            "a.tfstate",
            "tls/server.pem",
            "tls/server.KEY",
            "a.p12",
            "a.pfx",
            "a.jks",
            "a.keystore",
            "a.kdbx",
            "id_rsa",
            "id_ed25519",
            "id_rsa.bak",
            "secrets.yaml",
            "k8s/secrets.json",
            "service-account-prod.json",
            "/proc/self/environ",
            "/proc/1/environ",
        ];
        assert!(covered.len() >= 30);
        for path in covered {
            assert!(matching(path).is_some(), "{path}");
        }
        let free = [
            "src/env.rs",
            ".env.example",
            ".env.sample",
            "id_rsa.pub",
            "environment",
            "key.rs",
            "docs/keys.md",
            "README.md",
            ".environment",
            "monkey",
            "config.json",
            "proc/environ",
        ];
        for path in free {
            assert_eq!(matching(path), None, "{path}");
        }
    }
}
