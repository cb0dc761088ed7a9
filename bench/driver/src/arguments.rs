//! The command line: where the programs are, how many rounds, which tables.

use std::path::PathBuf;

#[derive(Debug)]
pub(crate) struct Arguments {
    /// The folder of the release build.
    pub(crate) binaries: PathBuf,
    /// The folder of the scripts for the official SDKs.
    pub(crate) scripts: PathBuf,
    pub(crate) rounds: usize,
    /// Names of tables; all if empty.
    only: Vec<String>,
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments {
            binaries: PathBuf::new(),
            scripts: PathBuf::new(),
            rounds: 5,
            only: Vec::new(),
        };
        while let Some(word) = words.next() {
            let value = words.next().ok_or(format!("`{word}` needs a value"))?;
            match word.as_str() {
                "--binaries" => arguments.binaries = value.into(),
                "--scripts" => arguments.scripts = value.into(),
                "--rounds" => {
                    arguments.rounds = value
                        .parse()
                        .map_err(|_| format!("`{value}` is not a number"))?
                }
                "--only" => arguments.only.extend(value.split(',').map(str::to_owned)),
                _ => {
                    return Err(format!(
                        "`{word}` is not an argument; there are --rounds <n> and --only <tables>"
                    ));
                }
            }
        }
        arguments.check_tables()?;
        Ok(arguments)
    }

    fn check_tables(&self) -> Result<(), String> {
        let names: Vec<&str> = crate::tables::ALL.iter().map(|(name, _)| *name).collect();
        match self
            .only
            .iter()
            .find(|name| !names.contains(&name.as_str()))
        {
            Some(name) => Err(format!(
                "`{name}` is not a table; there are {}",
                names.join(", ")
            )),
            None => Ok(()),
        }
    }

    pub(crate) fn wants(&self, table: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == table)
    }
}
