//! Secrets stay hidden under a short list of patterns, however deep they lie.

use super::Outcome::{Allow, Deny};
use super::Project;

const RULES: &[&str] = &[
    "Read(.env)",
    "Read(.env.*)",
    "Read(*.env)",
    "Read(*.pem)",
    "Read(*.key)",
    "Read(*.p12)",
    "Read(*.pfx)",
    "Read(*.jks)",
    "Read(*.kdbx)",
    "Read(id_rsa*)",
    "Read(id_ed25519*)",
    "Read(id_ecdsa*)",
    "Read(id_dsa*)",
    "Read(.npmrc)",
    "Read(.netrc)",
    "Read(.pypirc)",
    "Read(.ssh)",
    "Read(secrets/**)",
    "Read(**/credentials*)",
    "Read(~/.aws/**)",
    "Read(~/.ssh/**)",
    "Read(//etc/shadow)",
    "Read(.git-credentials)",
    "Read(.docker/config.json)",
    "Read(*.keystore)",
    "Read(.kube/config)",
];

const SECRETS: &[&str] = &[
    ".env",
    ".env.local",
    ".env.production",
    ".env.development.local",
    "src/.env",
    "a/b/c/.env",
    "a/.env.test",
    "prod.env",
    "deploy/prod.env",
    ".ENV",
    "src/.Env.Local",
    "./.env",
    "src/../.env",
    "src//.env",
    "key.pem",
    "a/b/server.pem",
    "SERVER.PEM",
    "tls.key",
    "certs/tls.key",
    "cert.p12",
    "cert.pfx",
    "a/store.jks",
    "pw.kdbx",
    "id_rsa",
    "backup/id_rsa.bak",
    "id_ed25519",
    "x/id_ed25519.pub",
    "id_ecdsa",
    "id_dsa",
    ".npmrc",
    "pkg/.npmrc",
    ".netrc",
    ".pypirc",
    ".ssh/known_hosts",
    "x/.ssh/config",
    "secrets/a",
    "secrets/a/b/c.txt",
    "credentials.json",
    "a/credentials",
    "../.aws/credentials",
    "../.ssh/id_x",
    "/etc/shadow",
    "/etc/../etc/shadow",
    ".git-credentials",
    ".docker/config.json",
    "app.keystore",
    ".kube/config",
    ".env/",
    "secrets/",
];

const ORDINARY: &[&str] = &[
    "environment.rs",
    "src/env.rs",
    "env",
    "keys.md",
    "src/key.rs",
    "pem.txt",
    "README.md",
    "identity.rs",
    "secret.md",
    "a/secretsx/b",
    "x.environment",
];

#[test]
fn sensitive_files_are_denied_to_all_tools() {
    assert!(SECRETS.len() >= 30);
    let project = RULES.iter().fold(
        Project::new().allow("Bash").allow("Read"),
        |project, rule| project.deny(rule),
    );
    for secret in SECRETS {
        assert_eq!(project.read(secret), Deny, "Read {secret}");
        let command = format!("cat '{secret}'");
        assert_eq!(project.command(&command), Deny, "{command}");
        let command = format!("true && python3 x.py --file={secret}");
        assert_eq!(project.command(&command), Deny, "{command}");
    }
    for path in ORDINARY {
        assert_eq!(project.read(path), Allow, "Read {path}");
    }
}
