//! What is to be measured.

use std::path::PathBuf;

/// What the program was asked for.
pub(crate) enum Wanted {
    Tables(Arguments),
    Part(Vec<String>),
}

pub(crate) struct Arguments {
    pub(crate) ours: PathBuf,
    pub(crate) official: Option<PathBuf>,
    pub(crate) rounds: usize,
    only: Vec<String>,
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Wanted, String> {
        let mut found = Self {
            ours: PathBuf::new(),
            official: None,
            rounds: 7,
            only: Vec::new(),
        };
        while let Some(word) = words.next() {
            if word == "part" {
                return Ok(Wanted::Part(words.collect()));
            }
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--ours" => found.ours = value()?.into(),
                "--official" => found.official = Some(value()?.into()),
                "--rounds" => {
                    found.rounds = value()?.parse().map_err(|_| "--rounds needs a number")?;
                }
                "--only" => found.only.push(value()?),
                _ => return Err(format!("unknown argument {word}")),
            }
        }
        match found.ours.is_file() {
            true => Ok(Wanted::Tables(found)),
            false => Err("--ours must name the executable falconer-claude".to_owned()),
        }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}
