//! The `sandbox` part of the settings.
//!
//! `enabled` alone lets the CLI go on without a sandbox when there is none; only
//! `fail_if_unavailable` refuses.

use std::collections::BTreeMap;

use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// The confinement of commands.
    pub struct SandboxSettings {
        /// `true` to run shell commands in a sandbox. Without `fail_if_unavailable` they run
        /// unconfined if there is none.
        pub enabled ? bool,
        /// `true` to refuse to start without a sandbox.
        pub fail_if_unavailable ? bool => "failIfUnavailable",
        /// `true` to run confined commands without asking; deny rules still apply. Absent counts as
        /// `false`.
        pub auto_allow_bash_if_sandboxed ? bool => "autoAllowBashIfSandboxed",
        /// `false` to ignore `dangerouslyDisableSandbox`. Absent counts as `true`.
        pub allow_unsandboxed_commands ? bool => "allowUnsandboxedCommands",
        /// Limits on the network.
        pub network ? SandboxNetwork,
        /// Limits on files.
        pub filesystem ? SandboxFilesystem,
        /// Secrets to hide from commands.
        pub credentials ? SandboxCredentials,
        /// Paths whose violations are not reported, by command pattern; `*` for all commands.
        pub ignore_violations ? BTreeMap<String, Vec<String>> => "ignoreViolations",
        /// `true` to work without a `/proc` of its own, as in unprivileged containers; Linux.
        /// Weakens the sandbox.
        pub enable_weaker_nested_sandbox ? bool => "enableWeakerNestedSandbox",
        /// `true` to let commands make user namespaces; Linux. Weakens the sandbox.
        pub allow_nested_user_namespaces ? bool => "allowNestedUserNamespaces",
        /// `true` to let commands reach the system's certificate service; macOS. Weakens the
        /// sandbox.
        pub enable_weaker_network_isolation ? bool => "enableWeakerNetworkIsolation",
        /// `true` to let commands send Apple events; macOS. Weakens the sandbox.
        pub allow_apple_events ? bool => "allowAppleEvents",
        /// Command patterns that run outside the sandbox, in the syntax of `Bash` rules.
        pub excluded_commands ? Vec<String> => "excludedCommands",
        /// Program that searches for files to protect.
        pub ripgrep ? RipgrepCommand,
        /// Absolute path of bubblewrap; heeded in managed settings only.
        pub bwrap_path ? String => "bwrapPath",
        /// Absolute path of socat; heeded in managed settings only.
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
    /// Hosts and sockets that commands may reach.
    pub struct SandboxNetwork {
        /// Hosts that may be reached without asking; `*.example.com` covers subdomains.
        pub allowed_domains ? Vec<String> => "allowedDomains",
        /// Hosts that are never reached; wins over `allowed_domains`.
        pub denied_domains ? Vec<String> => "deniedDomains",
        /// `true` to deny other hosts instead of asking.
        pub strict_allowlist ? bool => "strictAllowlist",
        /// `true` to heed allowed hosts in managed settings only.
        pub allow_managed_domains_only ? bool => "allowManagedDomainsOnly",
        /// Paths of Unix sockets that may be used; macOS only.
        pub allow_unix_sockets ? Vec<String> => "allowUnixSockets",
        /// `true` to allow all Unix sockets.
        pub allow_all_unix_sockets ? bool => "allowAllUnixSockets",
        /// `true` to let commands listen on local ports; macOS only.
        pub allow_local_binding ? bool => "allowLocalBinding",
        /// Names of system services that may be used, `*` at the end as a wildcard; macOS only.
        pub allow_mach_lookup ? Vec<String> => "allowMachLookup",
        /// Local port of an HTTP proxy to use in place of the engine's.
        pub http_proxy_port ? u16 => "httpProxyPort",
        /// Local port of a SOCKS5 proxy to use in place of the engine's.
        pub socks_proxy_port ? u16 => "socksProxyPort",
        /// Set to let the proxy look into TLS connections; experimental.
        pub tls_terminate ? TlsTerminate => "tlsTerminate",
    }
}

wire_struct! {
    /// The certificate with which the proxy opens TLS.
    pub struct TlsTerminate {
        /// Certificate in a file; absent together with the key, one is made for the session.
        pub ca_cert_path ? String => "caCertPath",
        /// Key of that certificate.
        pub ca_key_path ? String => "caKeyPath",
    }
}

wire_struct! {
    /// Paths that commands may read and write.
    pub struct SandboxFilesystem {
        /// Paths that may be written beside the working directory.
        pub allow_write ? Vec<String> => "allowWrite",
        /// Paths that may not be written.
        pub deny_write ? Vec<String> => "denyWrite",
        /// Paths that may not be read.
        pub deny_read ? Vec<String> => "denyRead",
        /// Paths inside `deny_read` that may be read all the same.
        pub allow_read ? Vec<String> => "allowRead",
        /// `true` to heed `allow_read` in managed settings only.
        pub allow_managed_read_paths_only ? bool => "allowManagedReadPathsOnly",
        /// `true` to leave files unconfined and confine the network only.
        pub disabled ? bool,
    }
}

wire_struct! {
    /// Secrets that commands must not see.
    pub struct SandboxCredentials {
        /// Files and directories to hide.
        pub files ? Vec<CredentialFile>,
        /// Variables to hide.
        pub env_vars ? Vec<CredentialEnvVar> => "envVars",
        /// `true` to put real secrets into unencrypted HTTP requests too.
        pub allow_plaintext_inject ? bool => "allowPlaintextInject",
        /// Variables that belong together, if they do not have AWS's usual names.
        pub aws_pairs ? Vec<AwsPair> => "awsPairs",
        /// Treatment of signed AWS requests.
        pub sigv4 ? SigV4,
    }
}

wire_struct! {
    /// A file with a secret.
    pub struct CredentialFile {
        /// File or directory; `~` is the home directory.
        pub path: String,
        /// Treatment of the file.
        pub mode: CredentialMode,
        /// Regular expression whose first group is the secret; absent, the whole file is. For
        /// `mask`.
        pub extract ? String,
        /// Effect of an `extract` or `decode` that finds nothing; absent counts as `warn`.
        pub on_extract_no_match ? ExtractNoMatch => "onExtractNoMatch",
        /// `jwt` to look for tokens and replace them by valid fakes. For `mask`.
        pub decode ? String,
        /// Claims to replace inside a token instead of the whole token; needs `decode`.
        pub mask_claims ? Vec<String> => "maskClaims",
        /// `true` to replace the secret wherever else it occurs in the file.
        pub mask_duplicates ? bool => "maskDuplicates",
        /// Hosts that get the real secret; absent, all allowed ones. For `mask`.
        pub inject_hosts ? Vec<String> => "injectHosts",
    }
}

wire_struct! {
    /// A variable with a secret.
    pub struct CredentialEnvVar {
        /// Name of the variable.
        pub name: String,
        /// Treatment of the variable.
        pub mode: CredentialMode,
        /// Regular expression whose first group is the secret; absent, the whole value is. For
        /// `mask`.
        pub extract ? String,
        /// Effect of an `extract` or `decode` that finds nothing; absent counts as `warn`.
        pub on_extract_no_match ? ExtractNoMatch => "onExtractNoMatch",
        /// `jwt` if the value is a token, to be replaced by a valid fake. For `mask`.
        pub decode ? String,
        /// Claims to replace inside the token instead of the whole token; needs `decode`.
        pub mask_claims ? Vec<String> => "maskClaims",
        /// Hosts that get the real secret; absent, all allowed ones. For `mask`.
        pub inject_hosts ? Vec<String> => "injectHosts",
    }
}

open_enum! {
    /// A stand-in for a secret.
    pub enum CredentialMode {
        /// Nothing: the file cannot be read, the variable is unset.
        Deny = "deny",
        /// A fake value that the proxy replaces on the way out.
        Mask = "mask",
    }
}

open_enum! {
    /// The effect of a secret that is not found where it should be.
    pub enum ExtractNoMatch {
        /// Treated as `deny`.
        Deny = "deny",
        /// The sandbox is not set up.
        Error = "error",
        /// A warning; the secret stays visible.
        Warn = "warn",
    }
}

wire_struct! {
    /// The variables of one AWS identity.
    pub struct AwsPair {
        /// Variable with the access key id.
        pub access_key_id_var: String => "accessKeyIdVar",
        /// Variable with the secret access key.
        pub secret_access_key_var: String => "secretAccessKeyVar",
        /// Variable with the session token; absent for lasting keys.
        pub session_token_var ? String => "sessionTokenVar",
    }
}

wire_struct! {
    /// The fate of AWS requests that the proxy cannot sign again.
    pub struct SigV4 {
        /// Uploads that are signed chunk by chunk; absent counts as `deny`.
        pub streaming ? Unsignable,
        /// Addresses that contain their signature; absent counts as `deny`.
        pub presigned ? Unsignable,
        /// Requests with asymmetric signatures; absent counts as `deny`.
        pub sigv4a ? Unsignable,
    }
}

open_enum! {
    /// The fate of such a request.
    pub enum Unsignable {
        /// Refused by the proxy.
        Deny = "deny",
        /// Sent with its fake signature, which AWS refuses.
        Passthrough = "passthrough",
    }
}

wire_struct! {
    /// The ripgrep that the sandbox uses.
    pub struct RipgrepCommand {
        /// Program to start.
        pub command: String,
        /// Arguments before those of the sandbox.
        pub args ? Vec<String>,
    }
}
