//! The `sandbox` part of the settings.
//!
//! `enabled` alone lets the CLI go on without a sandbox when there is none; only
//! `fail_if_unavailable` refuses.

use std::collections::BTreeMap;

use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// How commands are confined.
    pub struct SandboxSettings {
        pub enabled ? bool,
        pub fail_if_unavailable ? bool => "failIfUnavailable",
        pub auto_allow_bash_if_sandboxed ? bool => "autoAllowBashIfSandboxed",
        pub allow_unsandboxed_commands ? bool => "allowUnsandboxedCommands",
        pub network ? SandboxNetwork,
        pub filesystem ? SandboxFilesystem,
        pub credentials ? SandboxCredentials,
        /// Command pattern to the violations it may commit.
        pub ignore_violations ? BTreeMap<String, Vec<String>> => "ignoreViolations",
        pub enable_weaker_nested_sandbox ? bool => "enableWeakerNestedSandbox",
        pub allow_nested_user_namespaces ? bool => "allowNestedUserNamespaces",
        pub enable_weaker_network_isolation ? bool => "enableWeakerNetworkIsolation",
        pub allow_apple_events ? bool => "allowAppleEvents",
        pub excluded_commands ? Vec<String> => "excludedCommands",
        pub ripgrep ? RipgrepCommand,
        pub bwrap_path ? String => "bwrapPath",
        pub socat_path ? String => "socatPath",
    }
}

impl SandboxSettings {
    /// A sandbox without which nothing runs.
    pub fn required() -> Self {
        Self {
            enabled: Some(true),
            fail_if_unavailable: Some(true),
            ..Self::default()
        }
    }
}

wire_struct! {
    /// What commands may reach.
    pub struct SandboxNetwork {
        pub allowed_domains ? Vec<String> => "allowedDomains",
        pub denied_domains ? Vec<String> => "deniedDomains",
        pub strict_allowlist ? bool => "strictAllowlist",
        pub allow_managed_domains_only ? bool => "allowManagedDomainsOnly",
        pub allow_unix_sockets ? Vec<String> => "allowUnixSockets",
        pub allow_all_unix_sockets ? bool => "allowAllUnixSockets",
        pub allow_local_binding ? bool => "allowLocalBinding",
        pub allow_mach_lookup ? Vec<String> => "allowMachLookup",
        pub http_proxy_port ? u16 => "httpProxyPort",
        pub socks_proxy_port ? u16 => "socksProxyPort",
        pub tls_terminate ? TlsTerminate => "tlsTerminate",
    }
}

wire_struct! {
    /// The certificate with which the proxy opens TLS.
    pub struct TlsTerminate {
        pub ca_cert_path ? String => "caCertPath",
        pub ca_key_path ? String => "caKeyPath",
    }
}

wire_struct! {
    /// What commands may read and write.
    pub struct SandboxFilesystem {
        pub allow_write ? Vec<String> => "allowWrite",
        pub deny_write ? Vec<String> => "denyWrite",
        pub deny_read ? Vec<String> => "denyRead",
        pub allow_read ? Vec<String> => "allowRead",
        pub allow_managed_read_paths_only ? bool => "allowManagedReadPathsOnly",
        pub disabled ? bool,
    }
}

wire_struct! {
    /// Secrets that commands must not see.
    pub struct SandboxCredentials {
        pub files ? Vec<CredentialFile>,
        pub env_vars ? Vec<CredentialEnvVar> => "envVars",
        pub allow_plaintext_inject ? bool => "allowPlaintextInject",
        pub aws_pairs ? Vec<AwsPair> => "awsPairs",
        pub sigv4 ? SigV4,
    }
}

wire_struct! {
    /// A file with a secret.
    pub struct CredentialFile {
        pub path: String,
        pub mode: CredentialMode,
        pub extract ? String,
        pub on_extract_no_match ? ExtractNoMatch => "onExtractNoMatch",
        pub decode ? String,
        pub mask_claims ? Vec<String> => "maskClaims",
        pub mask_duplicates ? bool => "maskDuplicates",
        pub inject_hosts ? Vec<String> => "injectHosts",
    }
}

wire_struct! {
    /// A variable with a secret.
    pub struct CredentialEnvVar {
        pub name: String,
        pub mode: CredentialMode,
        pub extract ? String,
        pub on_extract_no_match ? ExtractNoMatch => "onExtractNoMatch",
        pub decode ? String,
        pub mask_claims ? Vec<String> => "maskClaims",
        pub inject_hosts ? Vec<String> => "injectHosts",
    }
}

open_enum! {
    /// What a command gets instead of the secret.
    pub enum CredentialMode {
        /// Nothing.
        Deny = "deny",
        /// A stand-in that the proxy replaces.
        Mask = "mask",
    }
}

open_enum! {
    /// What happens if a secret is not found where it should be.
    pub enum ExtractNoMatch {
        Deny = "deny",
        Error = "error",
        Warn = "warn",
    }
}

wire_struct! {
    /// The variables of one AWS identity.
    pub struct AwsPair {
        pub access_key_id_var: String => "accessKeyIdVar",
        pub secret_access_key_var: String => "secretAccessKeyVar",
        pub session_token_var ? String => "sessionTokenVar",
    }
}

wire_struct! {
    /// What happens to AWS requests that cannot be signed again.
    pub struct SigV4 {
        pub streaming ? Unsignable,
        pub presigned ? Unsignable,
        pub sigv4a ? Unsignable,
    }
}

open_enum! {
    /// Whether such a request passes.
    pub enum Unsignable {
        Deny = "deny",
        Passthrough = "passthrough",
    }
}

wire_struct! {
    /// Which ripgrep the sandbox uses.
    pub struct RipgrepCommand {
        pub command: String,
        pub args ? Vec<String>,
    }
}
