//! `find`, taken apart by its own grammar.

use super::read_only::{Grade, Reading};
use super::word::Word;

/// Tests and actions that stand alone.
const ALONE: &[&str] = &[
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-daystart",
    "-not",
    "-and",
    "-or",
    "-a",
    "-o",
    "!",
    "(",
    ")",
    ",",
    "-true",
    "-false",
    "-quit",
    "-nouser",
    "-nogroup",
    "-noleaf",
    "-warn",
    "-nowarn",
    "-ignore_readdir_race",
];

/// Those that take a text or a number.
const WITH_TEXT: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-lname",
    "-ilname",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-ctime",
    "-atime",
    "-mmin",
    "-cmin",
    "-amin",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-maxdepth",
    "-mindepth",
    "-newermt",
    "-newerct",
    "-newerat",
    "-printf",
    "-fstype",
];

/// Those that take a file to compare with.
const WITH_FILE: &[&str] = &["-newer", "-anewer", "-cnewer", "-samefile"];

/// What `find` looks at, if it only looks.
pub(super) fn find(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    reading.grade = Grade::Confined;
    unknown_word(arguments, |file| reading.files.push(file.clone()))
        .is_none()
        .then_some(())?;
    if reading.files.is_empty() {
        reading.files.push(Word::plain("."));
    }
    Some(())
}

/// The first word that is not known to only look.
pub(super) fn unknown_word<'w>(
    arguments: &'w [Word],
    mut file: impl FnMut(&'w Word),
) -> Option<&'w Word> {
    let is_path = |word: &&Word| {
        let text = word.literal.as_deref().or(word.glob.as_deref());
        text.is_some_and(|text| !text.starts_with(['-', '(', ')', '!', ',']))
    };
    let paths = arguments.iter().take_while(is_path).count();
    for path in &arguments[..paths] {
        // A pattern that begins with a star may mean a file that is called `-delete`.
        let may_be_test = |glob: &String| glob.starts_with(['*', '?', '[']);
        if path.glob.as_ref().is_some_and(may_be_test) {
            return Some(path);
        }
        file(path);
    }
    let mut rest = arguments[paths..].iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.literal.as_deref() else {
            return Some(word);
        };
        if ALONE.contains(&text) {
            continue;
        }
        let takes_file = WITH_FILE.contains(&text);
        let value = rest.next().filter(|value| value.literal.is_some());
        match value {
            Some(value) if takes_file => file(value),
            Some(_) if WITH_TEXT.contains(&text) => {}
            _ => return Some(word),
        }
    }
    None
}
