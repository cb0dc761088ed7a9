//! What is to be measured.

use std::path::PathBuf;
use std::time::Duration;

pub(crate) struct Arguments {
    pub(crate) rounds: usize,
    pub(crate) time: Duration,
    pub(crate) directory: PathBuf,
    sessions: Vec<usize>,
    only: Vec<String>,
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut found = Self {
            rounds: 3,
            time: Duration::from_secs(1),
            directory: std::env::temp_dir(),
            sessions: vec![1, 100, 1_000],
            only: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            let number = |text: String| -> Result<usize, String> {
                text.parse().map_err(|_| format!("{text} is no number"))
            };
            match word.as_str() {
                "--rounds" => found.rounds = number(value()?)?.max(1),
                "--seconds" => found.time = Duration::from_secs(number(value()?)?.max(1) as u64),
                "--directory" => found.directory = value()?.into(),
                "--sessions" => {
                    let counts = value()?;
                    let counts = counts.split(',').map(|count| number(count.to_owned()));
                    found.sessions = counts.collect::<Result<_, _>>()?;
                }
                "--only" => found.only.push(value()?),
                _ => return Err(format!("unknown argument {word}")),
            }
        }
        Ok(found)
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// How many live sessions, in the tables about the server.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = usize> {
        self.sessions.iter().map(|count| (*count).max(1))
    }

    /// The most of them.
    pub(crate) fn most(&self) -> usize {
        self.sessions().max().unwrap_or(1)
    }

    /// A folder for one measurement, gone afterwards.
    pub(crate) fn folder(&self) -> tempfile::TempDir {
        tempfile::tempdir_in(&self.directory).expect("a folder for the database")
    }
}
