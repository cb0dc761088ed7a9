//! An inspection on the terminal: in full, and with everything visible.

use std::io::{self, Write};

use falconer_engine::{Inspection, Standing};
use owo_colors::OwoColorize;

/// Writes everything that needs trust, and what has changed.
pub(super) fn print(inspection: &Inspection, out: &mut impl Write) -> io::Result<()> {
    let project = visible(&inspection.project.display().to_string());
    match inspection.standing {
        Standing::NotNeeded => writeln!(out, "{project} holds nothing that needs trust")?,
        Standing::Trusted => writeln!(out, "{project}: this content is {}", "trusted".green())?,
        Standing::Changed => writeln!(
            out,
            "{project}: the content has {} since it was trusted",
            "changed".yellow()
        )?,
        _ => writeln!(out, "{project}: this content is {}", "not trusted".yellow())?,
    }
    for item in &inspection.items {
        let new = match (inspection.standing, item.is_new) {
            (Standing::Changed, true) => "  (new or changed)",
            _ => "",
        };
        let key = visible(&item.key);
        writeln!(
            out,
            "\n{}: {key} in {}{new}",
            item.kind.wish().bold(),
            item.file
        )?;
        indented(out, &item.text)?;
        for script in &item.scripts {
            writeln!(out, "  names the file {}:", visible(&script.path).bold())?;
            match &script.text {
                Some(text) => indented(out, text)?,
                None => writeln!(out, "    (not a short text; digest {})", script.digest)?,
            }
        }
    }
    for gone in &inspection.gone {
        writeln!(out, "\nno longer there, or changed: {}", visible(gone))?;
    }
    for ignored in &inspection.ignored {
        writeln!(
            out,
            "\nalways ignored, trusted or not: {}",
            visible(ignored)
        )?;
    }
    for problem in &inspection.problems {
        writeln!(out, "\ncannot be used: {}", visible(problem))?;
    }
    if let Some(digest) = &inspection.digest {
        writeln!(out, "\ndigest {digest}")?;
    }
    Ok(())
}

fn indented(out: &mut impl Write, text: &str) -> io::Result<()> {
    text.split('\n')
        .try_for_each(|line| writeln!(out, "    {}", visible(line)))
}

/// A text in which nothing is hidden and nothing moves the cursor.
pub(super) fn visible(text: &str) -> String {
    let show = |c: char| match is_plain(c) {
        true => c.to_string(),
        false => c.escape_unicode().to_string(),
    };
    text.chars().map(show).collect()
}

/// Whether a terminal shows a character as one sign at its place.
fn is_plain(c: char) -> bool {
    match c {
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => false,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => false,
        '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => false,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => false,
        other => !other.is_control() && (other == ' ' || !other.is_whitespace()),
    }
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn nothing_is_hidden() {
        let hostile = "a\x1b[2K\rb\u{202e}c\u{200b}d\u{a0}e\u{e0041}f é";
        let shown = visible(hostile);
        let expected = "a\\u{1b}[2K\\u{d}b\\u{202e}c\\u{200b}d\\u{a0}e\\u{e0041}f é";
        assert_eq!(shown, expected);
    }
}
