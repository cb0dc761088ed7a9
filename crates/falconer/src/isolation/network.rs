//! The hosts that commands may reach. The agent's own traffic to the API is not affected.

use falconer_protocol::sandbox::SandboxNetwork;
use serde::Serialize;

/// The hosts that the tools of a run may reach. Default: none.
///
/// It binds commands through the sandbox and `WebFetch` and `WebSearch` through permission
/// rules. It binds neither the agent's traffic to the API nor MCP servers, which run outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[must_use]
pub struct NetworkPolicy {
    reach: Reach,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    denied_domains: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unix_sockets: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    local_binding: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Reach {
    #[default]
    Closed,
    Domains(Vec<String>),
    OpenByChoice,
}

impl NetworkPolicy {
    /// Nothing can be reached.
    pub fn no_network() -> Self {
        Self::default()
    }

    /// Only these domains; `*.example.org` covers everything below one. No domains means none.
    pub fn with_domains<D: Into<String>>(domains: impl IntoIterator<Item = D>) -> Self {
        let domains: Vec<String> = domains.into_iter().map(Into::into).collect();
        let reach = if domains.is_empty() {
            Reach::Closed
        } else {
            Reach::Domains(domains)
        };
        Self {
            reach,
            ..Self::default()
        }
    }

    /// Everything can be reached. The name is long so that nobody chooses it by accident.
    pub fn open_by_choice() -> Self {
        Self {
            reach: Reach::OpenByChoice,
            ..Self::default()
        }
    }

    /// Never this domain, even if another rule covers it.
    pub fn deny_domain(mut self, domain: impl Into<String>) -> Self {
        self.denied_domains.push(domain.into());
        self
    }

    /// Lets commands use this Unix socket (macOS).
    pub fn allow_unix_socket(mut self, path: impl Into<String>) -> Self {
        self.unix_sockets.push(path.into());
        self
    }

    /// Lets commands listen on local ports (macOS).
    pub fn allow_local_binding(mut self) -> Self {
        self.local_binding = true;
        self
    }

    /// Returns `true` if a host that is on no list is refused.
    #[must_use]
    pub fn refuses_unlisted(&self) -> bool {
        !matches!(&self.reach, Reach::OpenByChoice)
            && !matches!(&self.reach, Reach::Domains(domains) if domains.iter().any(|d| d == "*"))
    }

    /// In a few words.
    pub(crate) fn words(&self) -> String {
        match &self.reach {
            Reach::Closed => "closed".to_owned(),
            Reach::Domains(domains) => domains.join(", "),
            Reach::OpenByChoice => "open by choice".to_owned(),
        }
    }

    /// The sandbox section for it.
    pub(super) fn settings(&self) -> SandboxNetwork {
        let allowed = match &self.reach {
            Reach::Closed => Vec::new(),
            Reach::Domains(domains) => domains.clone(),
            Reach::OpenByChoice => vec!["*".to_owned()],
        };
        let some = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
        SandboxNetwork {
            allowed_domains: Some(allowed),
            denied_domains: some(&self.denied_domains),
            // Unlisted hosts are refused, not asked about.
            strict_allowlist: self.refuses_unlisted().then_some(true),
            allow_unix_sockets: some(&self.unix_sockets),
            allow_local_binding: self.local_binding.then_some(true),
            ..SandboxNetwork::default()
        }
    }

    /// Permission rules for the tools that reach the network without a command: what is
    /// allowed, and what is denied.
    pub(super) fn rules(&self) -> (Vec<String>, Vec<String>) {
        let web = ["WebFetch", "WebSearch"].map(str::to_owned);
        let fetch = |domain: &String| format!("WebFetch(domain:{domain})");
        let denied = self.denied_domains.iter().map(fetch);
        match &self.reach {
            Reach::Closed => (Vec::new(), web.into()),
            Reach::OpenByChoice => (Vec::new(), denied.collect()),
            Reach::Domains(domains) => {
                let plain = domains.iter().filter(|domain| !domain.contains('*'));
                let search = std::iter::once("WebSearch".to_owned());
                (plain.map(fetch).collect(), denied.chain(search).collect())
            }
        }
    }
}
