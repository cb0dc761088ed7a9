//! The second reader: a grammar made for editors, which knows the whole language.
//!
//! It checks the strict reader, and finds the parts of commands that are not plain for rules
//! that forbid. Its time is not linear, so its work is bounded.

use std::cell::RefCell;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use super::strict::{MAX_WORDS, is_reserved};
use super::{Part, Unparsable, narrow, walk};

/// Longer commands are not given to the grammar.
pub(super) const MAX_LENGTH: usize = 8 * 1024;

/// Characters and words that mean something to the shell. The grammar needs quadratic time for
/// some, most of all when they are in the wrong place.
const MAX_SPECIAL: usize = 256;

/// How often the parser reports before it is stopped; the longest honest commands need half.
const MAX_REPORTS: usize = 150;

thread_local! {
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// The simple commands in a command, in the order in which they are written.
pub(super) fn parts(command: &str) -> Result<Vec<Part>, Unparsable> {
    let special = command.bytes().filter(|byte| is_special(*byte)).count();
    let words = command.split_ascii_whitespace();
    let reserved = words.filter(|word| is_reserved(word)).count();
    if special + reserved > MAX_SPECIAL {
        return Err(Unparsable::TooComplex);
    }
    let parts = confirmed_parts(command)?;
    let words: usize = parts.iter().map(|part| part.words.len()).sum();
    if words > MAX_WORDS {
        return Err(Unparsable::TooComplex);
    }
    Ok(parts)
}

/// The same for a command that the strict reader has read, so that nothing is in a wrong place.
pub(super) fn confirmed_parts(command: &str) -> Result<Vec<Part>, Unparsable> {
    if command.len() > MAX_LENGTH {
        return Err(Unparsable::TooLong);
    }
    let tree = parse(&narrow::stand_in(command))?;
    if tree.root_node().has_error() || narrow::cuts_a_character(command, &tree) {
        return Err(Unparsable::Syntax);
    }
    walk::parts(command, tree.root_node())
}

fn is_special(byte: u8) -> bool {
    b"|&;<>(){}[]$`'\"\\!#*?\n".contains(&byte)
}

fn parse(text: &str) -> Result<Tree, Unparsable> {
    PARSER.with_borrow_mut(|kept| {
        let mut parser = match kept.take() {
            Some(parser) => parser,
            None => new_parser()?,
        };
        let mut reports = 0;
        let mut stop = |_: &ParseState| {
            reports += 1;
            reports > MAX_REPORTS
        };
        let bytes = text.as_bytes();
        let options = ParseOptions::new().progress_callback(&mut stop);
        let mut chunk = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut chunk, None, Some(options));
        parser.reset();
        *kept = Some(parser);
        tree.ok_or(Unparsable::TooComplex)
    })
}

fn new_parser() -> Result<Parser, Unparsable> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .map_err(|_| Unparsable::NoParser)?;
    Ok(parser)
}
