//! Variables that no project sets, trusted or not.
//!
//! They say where the model is, through which proxy, which programs and libraries are loaded, and
//! how Falconer and the engine behave.

/// Names, in capitals; a star at the end stands for any rest.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    // Addresses and credentials of models, and the engine's own behaviour.
    "ANTHROPIC_*", "CLAUDE_*", "CLAUDECODE", "FALCONER_*", "AWS_*", "GOOGLE_*", "GCLOUD_*",
    "CLOUDSDK_*", "CLOUD_ML_REGION", "VERTEX_*", "AZURE_*", "OPENAI_*", "API_TIMEOUT_MS",
    "DISABLE_*", "ENABLE_*", "IS_SANDBOX", "MCP_*", "OTEL_*", "BETA_TRACING_*",
    // Ways through the network, and who is believed there.
    "*_PROXY", "SSL_*", "OPENSSL_*", "CURL_*", "REQUESTS_CA_BUNDLE", "RESOLV_*", "HOSTALIASES",
    "LOCALDOMAIN", "RES_OPTIONS", "SSH_*", "SSLKEYLOGFILE",
    // Programs, loaders and shells.
    "PATH", "LD_*", "DYLD_*", "GLIBC_*", "GCONV_PATH", "LOCPATH", "NLSPATH", "MALLOC_*",
    "BASH*", "ENV", "SHELL", "SHELLOPTS", "IFS", "PS0", "PS1", "PS2", "PS3", "PS4",
    "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "FIGNORE", "HISTFILE", "INPUTRC", "ZDOTDIR",
    "FPATH", "FCEDIT", "KSH_*", "HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "TMPDIR", "TMP",
    "POSIXLY_CORRECT", "EXECIGNORE", "TMOUT", "FUNCNEST", "GLOBSORT", "HIST*", "NULLCMD",
    "READNULLCMD", "ARGV0", "MODULE_PATH", "STTY", "LIBPATH", "SHLIB_PATH", "AWKPATH", "AWKLIBPATH",
    "GIO_*", "GTK_*", "QT_*", "GST_*", "GDK_*", "DBUS_*", "SYSTEMD_*", "NIX_*",
    "TEMP", "XDG_*", "TERMINFO*", "TERMCAP", "MAILPATH", "COMSPEC", "PATHEXT", "SYSTEMROOT",
    // Programs that other programs start, and what interpreters load.
    "GIT_*", "EDITOR", "VISUAL", "PAGER", "BROWSER", "MANPAGER", "MANOPT", "LESS*", "MORE",
    "SUDO_*", "NODE_*", "NPM_*", "YARN_*", "PNPM_*", "BUN_*", "DENO_*", "PYTHON*", "PIP_*",
    "UV_*", "VIRTUAL_ENV", "CONDA_*", "PERL*", "RUBY*", "GEM_*", "BUNDLE_*", "LUA*",
    "PHP*", "JAVA*", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "MAVEN_*", "GRADLE_*",
    "CARGO*", "RUSTC*", "RUSTDOC*", "RUSTFLAGS", "RUSTUP_*", "GOFLAGS", "GOPROXY", "GOENV",
    "GOROOT", "GOPATH", "MAKE*", "MFLAGS", "AR", "LD", "CPATH", "LIBRARY_PATH",
    "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "PKG_CONFIG*", "GCC_*", "COMPILER_PATH", "RSYNC_*", "CVS_*",
    "SVN_*", "HG*", "GH_*", "EXINIT", "TEXINPUTS", "TF_*", "ANSIBLE_*", "HELM_*", "KRB5*", "DEBUGINFOD_*", "GNUMAKEFLAGS", "CC", "CXX", "CMAKE_*", "TAR_OPTIONS",
    "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "FZF_*", "BAT_*", "DOTNET_*", "COMPLUS_*", "R_*",
    "ERL_*", "ELIXIR_*", "EMACS*", "VIM*", "NVIM_*", "DOCKER_*", "KUBECONFIG", "GNUPGHOME", "PSMODULEPATH",
];

/// Those of the engine's own variables that only name a model or set a size; trust is enough.
const NAMES_AND_SIZES: &[&str] = &[
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "MAX_MCP_OUTPUT_TOKENS",
];

/// Whether no project may set a variable.
pub(super) fn is_reserved(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // Such as `BASH_FUNC_ls%%`.
    if name.is_empty() || !name.chars().all(is_plain) {
        return true;
    }
    let upper = name.to_ascii_uppercase();
    if NAMES_AND_SIZES.contains(&upper.as_str()) {
        return false;
    }
    RESERVED.iter().any(|pattern| matches(pattern, &upper))
}

fn matches(pattern: &str, name: &str) -> bool {
    if let Some(end) = pattern.strip_prefix('*') {
        return name.ends_with(end);
    }
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::is_reserved;

    #[test]
    fn variables_that_redirect_or_load_are_reserved() {
        let reserved = [
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_API_KEY",
            "anthropic_base_url",
            "ANTHROPIC_CUSTOM_HEADERS",
            "ANTHROPIC_BEDROCK_BASE_URL",
            "AWS_ENDPOINT_URL",
            "HTTPS_PROXY",
            "http_proxy",
            "ALL_PROXY",
            "NO_PROXY",
            "PATH",
            "LD_PRELOAD",
            "BASH_ENV",
            "BASHOPTS",
            "BASH_FUNC_ls%%",
            "ENV",
            "SHELL",
            "IFS",
            "GIT_EXTERNAL_DIFF",
            "NODE_OPTIONS",
            "NODE_EXTRA_CA_CERTS",
            "SSL_CERT_FILE",
            "PYTHONPATH",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "FALCONER_SCENARIO",
            "FALCONER_STATE_DIR",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_SHELL",
            "HOME",
            "RUSTC_WRAPPER",
            "MAKEFILES",
            "POSIXLY_CORRECT",
            "EXECIGNORE",
            "GTK_MODULES",
            "RSYNC_RSH",
            "",
            "A=B",
            "A\0",
            "É",
        ];
        for name in reserved {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["DATABASE_URL", "RUST_LOG", "CI", "ANTHROPIC_MODEL", "PORT"] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
