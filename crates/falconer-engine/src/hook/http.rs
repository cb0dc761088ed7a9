//! Hooks that are HTTP servers: the input is posted, the answer is read like a program's output.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use falconer_secret::Environment;
use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::answer::{Ran, read_output};
use super::registry::{Hook, Request, SettingsHooks};
use super::report::Written;
use super::{DEFAULT_TIMEOUT, Hooks, Occasion};
use crate::web::web_client;

/// Longest answer that is read.
const ANSWER: usize = 1024 * 1024;

/// What requests may, and the client for them.
#[derive(Debug, Default)]
pub(super) struct Web {
    policy: Mutex<Policy>,
    client: tokio::sync::OnceCell<reqwest::Client>,
}

#[derive(Debug, Clone, Default)]
struct Policy {
    urls: Option<Vec<String>>,
    variables: Option<Vec<String>>,
}

impl Web {
    pub(super) fn set_policy(&self, settings: &SettingsHooks) {
        let policy = Policy {
            urls: settings.allowed_urls.clone(),
            variables: settings.allowed_variables.clone(),
        };
        *self.policy.lock().unwrap_or_else(PoisonError::into_inner) = policy;
    }

    fn policy(&self) -> Policy {
        let policy = self.policy.lock();
        policy.unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn client(&self, environment: &Environment) -> Result<&reqwest::Client, String> {
        let build = async { web_client(environment) };
        let client = self.client.get_or_try_init(|| build).await;
        client.map_err(|error| format!("cannot make an HTTP client: {error}"))
    }
}

impl Hooks {
    pub(super) async fn post(
        &self,
        request: &Request,
        hook: &Hook,
        occasion: &Occasion<'_>,
    ) -> Ran {
        let hook_id = self.tell_started(occasion).await;
        let limit = hook.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let (ran, written) = tokio::select! {
            biased;
            () = occasion.cancelled.cancelled() => (Ran::Cancelled, Written::default()),
            () = tokio::time::sleep(limit) => (Ran::TimedOut(limit), Written::default()),
            answer = self.exchange(request, occasion, limit) => match answer {
                Ok(text) => (read_output(&occasion.event, &text), Written { stdout: text, ..Written::default() }),
                Err(why) => (Ran::Failed(why), Written::default()),
            },
        };
        self.tell_ended(occasion, hook_id, written, &ran).await;
        ran
    }

    async fn exchange(
        &self,
        request: &Request,
        occasion: &Occasion<'_>,
        limit: Duration,
    ) -> Result<String, String> {
        let policy = self.web.policy();
        if !policy.allows(&request.url) {
            return Err("`allowedHttpHookUrls` does not allow its URL".to_owned());
        }
        let environment = &self.surroundings.environment;
        let headers = headers(request, &policy, environment)?;
        let client = self.web.client(environment).await?;
        let sent = client
            .post(&request.url)
            .timeout(limit)
            .headers(headers)
            .header(CONTENT_TYPE, "application/json")
            .body(occasion.line.clone())
            .send();
        let response = sent.await.map_err(without_url)?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("the server answered with status {status}"));
        }
        read_body(response).await
    }
}

impl Policy {
    fn allows(&self, url: &str) -> bool {
        let any = |patterns: &Vec<String>| patterns.iter().any(|it| wildcard(it, url));
        self.urls.as_ref().is_none_or(any)
    }

    fn allows_variable(&self, name: &str) -> bool {
        let any = |names: &Vec<String>| names.iter().any(|it| it == name);
        self.variables.as_ref().is_none_or(any)
    }
}

async fn read_body(response: reqwest::Response) -> Result<String, String> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(without_url)?;
        if body.len() + chunk.len() > ANSWER {
            return Err(format!("its answer is longer than {ANSWER} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn headers(
    request: &Request,
    policy: &Policy,
    environment: &Environment,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let value = interpolate(value, |variable| {
            let named = request.variables.iter().any(|it| it == variable);
            let allowed = named && policy.allows_variable(variable);
            let value = allowed.then(|| environment.text(variable)).flatten();
            Some(value.unwrap_or_default())
        });
        // The value may be a secret: the text must not show it.
        let bad = || format!("its header `{name}` is not valid");
        let name = HeaderName::try_from(name).map_err(|_| bad())?;
        let value = HeaderValue::try_from(value).map_err(|_| bad())?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Whether `*` in the pattern can stand for something that makes it the text.
fn wildcard(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// URLs may hold tokens.
fn without_url(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// Fills in `$NAME` and `${NAME}`; names for which `value` has nothing stay as they are.
fn interpolate(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        filled.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let (name, length) = match after.strip_prefix('{') {
            Some(inside) => match inside.find('}') {
                Some(end) => (&inside[..end], end + 2),
                None => ("", 0),
            },
            None => {
                let end = after.find(|it: char| it != '_' && !it.is_ascii_alphanumeric());
                let end = end.unwrap_or(after.len());
                (&after[..end], end)
            }
        };
        let whole = &rest[start..start + 1 + length];
        match value(name).filter(|_| !name.is_empty()) {
            Some(value) => filled.push_str(&value),
            None => filled.push_str(whole),
        }
        rest = &rest[start + 1 + length..];
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::{interpolate, wildcard};

    #[test]
    fn url_patterns_have_wildcards() {
        let cases = [
            ("https://a/*", "https://a/b/c", true),
            ("https://a/*", "https://b/c", false),
            ("https://a/b", "https://a/b", true),
            ("https://a/b", "https://a/b/c", false),
            ("*", "anything", true),
            ("https://*.a/*", "https://x.a/y", true),
            ("https://*.a/*", "https://x.b/y", false),
            ("*/hook", "https://a/hook", true),
            ("*/hook", "https://a/hooks", false),
        ];
        for (pattern, url, expected) in cases {
            assert_eq!(wildcard(pattern, url), expected, "{pattern} {url}");
        }
    }

    #[test]
    fn headers_take_only_known_names() {
        let value = |name: &str| (name == "A").then(|| "1".to_owned());
        let cases = [
            ("Bearer $A", "Bearer 1"),
            ("${A}!", "1!"),
            ("$B $", "$B $"),
            ("${open", "${open"),
            ("$A$A", "11"),
            ("ü$Aü", "ü1ü"),
        ];
        for (text, expected) in cases {
            assert_eq!(interpolate(text, value), expected, "{text}");
        }
    }
}
