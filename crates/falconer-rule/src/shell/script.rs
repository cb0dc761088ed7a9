//! A command that was read once, for everybody who has a question about it.

use std::sync::OnceLock;

use super::meaning::{Meaning, meanings};
use super::read_only::{Grade, reads_only};
use super::strict::{self, NotPlain};
use super::{Part, Unparsable, is_odd, moves_and_asks_git, stripped, tree};

/// Commands longer than this are not looked into.
const MAX_COMMAND: usize = 64 * 1024;

/// A shell command, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    parts: Vec<Part>,
    plain: Result<(), NotPlain>,
    /// Found out for the first rule that forbids something.
    meanings: OnceLock<Vec<Meaning>>,
}

impl Script {
    fn new(parts: Vec<Part>, plain: Result<(), NotPlain>) -> Self {
        Self {
            parts,
            plain,
            meanings: OnceLock::new(),
        }
    }
}

/// Reads a command with both readers.
///
/// # Errors
/// If it is too long, not valid shell syntax, or nobody can tell.
pub fn read(command: &str) -> Result<Script, Unparsable> {
    if command.len() > MAX_COMMAND {
        return Err(Unparsable::TooLong);
    }
    if command.chars().any(is_odd) {
        return Err(Unparsable::OddCharacter);
    }
    let mut script = match strict::read(command) {
        Ok(parts) => checked(command, parts),
        Err(NotPlain::TooMany) => return Err(Unparsable::TooComplex),
        Err(why) => Script::new(tree::parts(command)?, Err(why)),
    };
    // A word may go on in the next line, which the grammar takes for two.
    if script.plain.is_err()
        && command.contains("\\\n")
        && let Ok(joined) = tree::parts(&command.replace("\\\n", ""))
    {
        script.parts.extend(joined);
    }
    Ok(script)
}

/// Compares what the strict reader found with the tree.
fn checked(command: &str, mut parts: Vec<Part>) -> Script {
    let plain = match tree::confirmed_parts(command) {
        Ok(found) if is_same(&parts, &found) => Ok(()),
        Ok(mut found) => {
            // For rules that forbid, better one part too many.
            parts.append(&mut found);
            Err(NotPlain::Disagreement)
        }
        Err(Unparsable::TooLong) => Err(NotPlain::TooLong),
        Err(_) => Err(NotPlain::Disagreement),
    };
    Script::new(parts, plain)
}

fn is_same(strict: &[Part], tree: &[Part]) -> bool {
    strict.len() == tree.len()
        && strict.iter().zip(tree).all(|(one, other)| {
            one.assignments == other.assignments
                && one.opaque == other.opaque
                && one.redirects == other.redirects
                && one.words.len() == other.words.len()
                && one.words.iter().zip(&other.words).all(|(one, other)| {
                    (&one.text, &one.literal, &one.glob)
                        == (&other.text, &other.literal, &other.glob)
                })
        })
}

impl Script {
    /// The simple commands in the order in which they are written, each followed by the files
    /// the shell opens for it. Of a command that is not plain, perhaps more than there are.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The parts with the commands they may stand for.
    pub(crate) fn meanings(&self) -> &[Meaning] {
        self.meanings.get_or_init(|| meanings(&self.parts))
    }

    /// Returns an error unless both readers agree on every word of a plain command.
    ///
    /// Only a plain command may be allowed by rules for its parts, or because it only reads.
    ///
    /// # Errors
    /// If something in it is not plain.
    pub fn plain(&self) -> Result<(), NotPlain> {
        self.plain
    }

    /// How much confinement the command needs if it is plain and every part only reads.
    pub fn reads_only(&self) -> Option<Grade> {
        self.plain.ok()?;
        if moves_and_asks_git(&self.parts) {
            return None;
        }
        let grades = self.parts.iter().map(|part| Some(reads_only(part)?.grade));
        grades.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Whether a part runs git, which obeys the configuration of the repository it finds.
    pub fn uses_git(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| stripped(part).name() == Some("git"))
    }
}
