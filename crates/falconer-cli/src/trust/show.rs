//! An inspection on the terminal: in full, and with everything visible.

use std::io::{self, Write};

use falconer_engine::{Inspection, Standing};

use crate::render::{Sheet, Window};

/// Lays out everything that needs trust, and what has changed.
pub(super) fn sheet(inspection: &Inspection) -> Sheet {
    let project = inspection.project.display();
    let mut sheet = Sheet::default().note(&match inspection.standing {
        Standing::NotNeeded => format!("{project}: nothing needs trust"),
        Standing::Trusted => format!("{project}: this content is trusted"),
        Standing::Changed => format!("{project}: the content has changed since it was trusted"),
        _ => format!("{project}: this content is not trusted"),
    });
    for item in &inspection.items {
        let new = match (inspection.standing, item.is_new) {
            (Standing::Changed, true) => "  (new or changed)",
            _ => "",
        };
        let title = format!("{}: {} in {}{new}", item.kind.wish(), item.key, item.file);
        sheet = sheet.note("").note(&title).text(&item.text);
        for script in &item.scripts {
            sheet = sheet.note(&format!("names the file {}:", script.path));
            sheet = match &script.text {
                Some(text) => sheet.text(text),
                None => sheet.note(&format!("(not a short text; digest {})", script.digest)),
            };
        }
    }
    let lines = |what: &'static str, texts: &[String]| {
        let lines: Vec<String> = texts.iter().map(|text| format!("{what}: {text}")).collect();
        lines
    };
    let gone = lines("missing or changed", &inspection.gone);
    let ignored = lines("always ignored, trusted or not", &inspection.ignored);
    let problems = lines("cannot be used", &inspection.problems);
    for line in gone.iter().chain(&ignored).chain(&problems) {
        sheet = sheet.note(line);
    }
    match &inspection.digest {
        Some(digest) => sheet.note("").note(&format!("digest {digest}")),
        None => sheet,
    }
}

/// Writes all of it at once.
pub(super) fn print(inspection: &Inspection, out: &mut impl Write) -> io::Result<()> {
    let rows = sheet(inspection).rows(Window::now().columns);
    rows.iter().try_for_each(|row| writeln!(out, "{row}"))
}
