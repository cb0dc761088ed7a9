//! `apiKeyHelper`: a command that prints a key. What it prints is shown to nobody.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use falconer_process::{ExitStatus, Handle, Spec, Supervised};
use falconer_secret::{Environment, Redactor, Variables, for_children};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::AsyncReadExt;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::timeouts::millis;
use crate::{ApiFailure, FailureKind};

/// How long a key is used without a variable that says otherwise.
const DEFAULT_TTL: Duration = Duration::from_secs(300);

/// How long the command may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much it may print.
const OUTPUT_LIMIT: u64 = 64 << 10;

/// A command that prints a key.
pub(crate) struct KeyHelper {
    command: String,
    cwd: PathBuf,
    variables: Arc<Variables>,
    /// Learns each key that is printed.
    redactor: Redactor,
    ttl: Duration,
    /// Held while the command runs, so that many requests start it once.
    cached: Mutex<Option<Cached>>,
}

struct Cached {
    key: SecretString,
    since: Instant,
}

/// Whether a key that is known will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// As long as it is not too old.
    Cached,
    /// The known one was refused.
    Fresh,
}

impl std::fmt::Debug for KeyHelper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The command may hold a secret, and so do the variables.
        f.debug_struct("KeyHelper")
            .field("ttl", &self.ttl)
            .finish_non_exhaustive()
    }
}

impl KeyHelper {
    /// `CLAUDE_CODE_API_KEY_HELPER_TTL_MS` says how long a key is used.
    pub(crate) fn new(command: String, cwd: PathBuf, environment: &Environment) -> Self {
        let ttl = millis(environment, "CLAUDE_CODE_API_KEY_HELPER_TTL_MS");
        Self {
            command,
            cwd,
            variables: environment.snapshot(),
            redactor: environment.redactor().clone(),
            ttl: ttl.unwrap_or(DEFAULT_TTL),
            cached: Mutex::new(None),
        }
    }

    pub(crate) async fn key(&self, freshness: Freshness) -> Result<SecretString, ApiFailure> {
        let asked = Instant::now();
        let mut cached = self.cached.lock().await;
        let usable = |cached: &&Cached| match freshness {
            Freshness::Cached => cached.since.elapsed() < self.ttl,
            // Somebody else may have asked for a new one in the meantime.
            Freshness::Fresh => cached.since > asked,
        };
        if let Some(cached) = cached.as_ref().filter(usable) {
            return Ok(cached.key.clone());
        }
        *cached = None;
        let key = self.run().await?;
        self.redactor.learn([key.expose_secret()]);
        *cached = Some(Cached {
            key: key.clone(),
            since: Instant::now(),
        });
        Ok(key)
    }

    async fn run(&self) -> Result<SecretString, ApiFailure> {
        // Giving up drops the process's handle, which ends it and all it started.
        match tokio::time::timeout(PATIENCE, self.run_to_its_end()).await {
            Ok(key) => key,
            Err(_) => Err(failed(&format!(
                "did not end within {} s",
                PATIENCE.as_secs()
            ))),
        }
    }

    async fn run_to_its_end(&self) -> Result<SecretString, ApiFailure> {
        let spawned = falconer_process::spawn(self.spec()).await;
        let process = spawned.map_err(|error| failed(&format!("could not be started: {error}")))?;
        let Supervised {
            stdout,
            stderr,
            handle,
            ..
        } = process;
        // Its complaints are not read: they may hold what it knows.
        let (output, ()) = tokio::join!(read(&handle, stdout), drain(&handle, stderr));
        let output = output.map_err(|error| failed(&format!("could not be read: {error}")))?;
        match handle.exited().await.status {
            ExitStatus::Code(0) => {}
            ExitStatus::Code(code) => return Err(failed(&format!("ended with exit code {code}"))),
            other => return Err(failed(&format!("ended with {other:?}"))),
        }
        let key = String::from_utf8(output).map_err(|_| failed("did not print text"))?;
        match key.trim() {
            "" => Err(failed("printed nothing")),
            key => Ok(SecretString::from(key)),
        }
    }

    fn spec(&self) -> Spec {
        let mut spec = Spec::new("/bin/sh");
        spec.args = vec!["-c".into(), self.command.clone().into()];
        spec.env = for_children(&self.variables);
        spec.cwd = Some(self.cwd.clone());
        spec
    }
}

async fn read(process: &Handle, pipe: OwnedFd) -> std::io::Result<Vec<u8>> {
    let mut output = Vec::new();
    let pipe = process.output(pipe)?;
    pipe.take(OUTPUT_LIMIT).read_to_end(&mut output).await?;
    Ok(output)
}

async fn drain(process: &Handle, pipe: OwnedFd) {
    if let Ok(mut pipe) = process.output(pipe) {
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
}

fn failed(what: &str) -> ApiFailure {
    let text =
        format!("the command of the setting `apiKeyHelper` {what}; run it by hand to see why");
    ApiFailure::new(FailureKind::Authentication, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helper(command: &str, ttl: &str) -> (tempfile::TempDir, KeyHelper) {
        let folder = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let variables = [
            ("PATH".into(), path),
            ("CLAUDE_CODE_API_KEY_HELPER_TTL_MS".into(), ttl.into()),
            ("SECRET".into(), "geheim".into()),
        ];
        let environment = Environment::new(variables);
        let helper = KeyHelper::new(command.to_owned(), folder.path().to_owned(), &environment);
        (folder, helper)
    }

    /// Prints a number that grows with each run.
    const COUNTING: &str = "echo x >> runs; wc -l < runs";

    async fn keys(helper: &KeyHelper, asked: &[Freshness]) -> Vec<String> {
        let mut keys = Vec::new();
        for freshness in asked {
            let key = helper.key(*freshness).await.unwrap();
            keys.push(key.expose_secret().to_owned());
        }
        keys
    }

    #[tokio::test]
    async fn a_key_is_used_until_it_is_refused() {
        use Freshness::{Cached, Fresh};
        let (_folder, helper) = helper(COUNTING, "600000");
        let seen = keys(&helper, &[Cached, Cached, Fresh, Cached]).await;
        assert_eq!(seen, ["1", "1", "2", "2"]);
    }

    #[tokio::test]
    async fn an_old_key_is_asked_for_again() {
        let (_folder, helper) = helper(COUNTING, "1");
        keys(&helper, &[Freshness::Cached]).await;
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert_eq!(keys(&helper, &[Freshness::Cached]).await, ["2"]);
    }

    #[tokio::test]
    async fn a_key_is_learned_and_keys_are_not_given() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let environment = Environment::new([
            ("PATH".into(), path),
            ("ANTHROPIC_AUTH_TOKEN".into(), "the-other-key".into()),
        ]);
        let command = r#"echo "printed-${ANTHROPIC_AUTH_TOKEN:-nothing}""#;
        let helper = KeyHelper::new(command.to_owned(), "/".into(), &environment);
        let key = helper.key(Freshness::Cached).await.unwrap();
        assert_eq!(key.expose_secret(), "printed-nothing");
        let text = environment.redactor().text("a printed-nothing b");
        assert_eq!(text.as_deref(), Some("a [redacted] b"));
    }

    #[tokio::test]
    async fn many_at_once_start_it_once() {
        let (_folder, helper) = helper(COUNTING, "600000");
        let asked = (0..8).map(|_| helper.key(Freshness::Cached));
        for key in futures_util::future::join_all(asked).await {
            assert_eq!(key.unwrap().expose_secret(), "1");
        }
    }

    #[tokio::test]
    async fn a_command_that_fails_says_how_and_not_what_it_printed() {
        for (command, said) in [
            ("echo geheim; echo geheim >&2; exit 3", "exit code 3"),
            ("true", "printed nothing"),
            ("printf '\\377'", "did not print text"),
        ] {
            let (_folder, helper) = helper(command, "");
            let failure = helper.key(Freshness::Cached).await.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Authentication);
            assert!(failure.message.contains(said), "{failure}");
            assert!(!format!("{failure:?} {helper:?}").contains("geheim"));
        }
    }
}
