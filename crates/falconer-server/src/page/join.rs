//! One script out of the modules of the page, so that a browser asks once and not seventy times.
//!
//! The modules keep to a small part of the language: imports by name in one line, exports where a
//! thing is declared, no circles. Each becomes a function that gives back what it exports. What
//! does not fit is an error, and a test joins the whole page.

use std::collections::HashMap;

/// Why the modules cannot be one script.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum JoinError {
    #[error("there is no module {path}")]
    Missing { path: String },
    #[error("the modules import each other in a circle at {path}")]
    Circle { path: String },
    #[error("line {line} of {path} imports or exports in a way that cannot be joined: {text}")]
    Unclear {
        path: String,
        line: usize,
        text: String,
    },
}

/// Joins a module and everything it imports.
pub(crate) fn join(
    entry: &str,
    read: &dyn Fn(&str) -> Option<String>,
) -> Result<String, JoinError> {
    let mut joiner = Joiner {
        read,
        places: HashMap::new(),
        added: 0,
        text: String::new(),
    };
    joiner.add(entry)?;
    Ok(joiner.text)
}

/// Where a module is in the script; `None` while what it imports is being added.
type Place = Option<usize>;

struct Joiner<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
    places: HashMap<String, Place>,
    added: usize,
    text: String,
}

impl Joiner<'_> {
    /// Adds a module behind those it imports, and says where it is.
    fn add(&mut self, path: &str) -> Result<usize, JoinError> {
        let path = path.to_owned();
        match self.places.get(&path) {
            Some(Some(place)) => return Ok(*place),
            Some(None) => return Err(JoinError::Circle { path }),
            None => {}
        }
        let Some(source) = (self.read)(&path) else {
            return Err(JoinError::Missing { path });
        };
        self.places.insert(path.clone(), None);
        let (body, exports) = self.function(&path, &source)?;
        self.added += 1;
        let place = self.added;
        self.text.push_str(&format!(
            "const m{place} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"
        ));
        self.places.insert(path, Some(place));
        Ok(place)
    }

    /// A module as the inside of a function, and what it gives back.
    fn function(&mut self, path: &str, source: &str) -> Result<(String, String), JoinError> {
        let mut body = String::new();
        let mut exports = Vec::new();
        let mut comment = false;
        for (index, line) in source.lines().enumerate() {
            if is_comment(line, &mut comment) {
                continue;
            }
            let unclear = || JoinError::Unclear {
                path: path.to_owned(),
                line: index + 1,
                text: line.to_owned(),
            };
            if line.starts_with("import ") {
                let (names, from) = imported(line).ok_or_else(unclear)?;
                let place = self.add(&beside(path, from))?;
                body.push_str(&format!("const {{ {names} }} = m{place};\n"));
                continue;
            }
            let declared = line.strip_prefix("export ");
            if let Some(declared) = declared {
                exports.push(declared_name(declared).ok_or_else(unclear)?);
            }
            body.push_str(declared.unwrap_or(line));
            body.push('\n');
        }
        Ok((body, exports.join(", ")))
    }
}

/// Whether a line is nothing but comment; a comment begins and ends with a line.
fn is_comment(line: &str, open: &mut bool) -> bool {
    let text = line.trim();
    if *open {
        *open = !text.ends_with("*/");
        return true;
    }
    if text.starts_with("/*") {
        *open = !text.contains("*/");
        return *open || text.ends_with("*/");
    }
    text.starts_with("//")
}

/// `import { a, b as c } from "./d.js";` → `a, b: c` and `./d.js`.
fn imported(line: &str) -> Option<(String, &str)> {
    let (names, from) = line.strip_prefix("import { ")?.split_once(" } from \"")?;
    let from = from.strip_suffix("\";")?;
    Some((names.replace(" as ", ": "), from))
}

/// The name in `function name(`, `async function name(`, `class Name {` and `const name =`.
fn declared_name(text: &str) -> Option<&str> {
    let text = text.strip_prefix("async ").unwrap_or(text);
    let rest = ["function ", "class ", "const "]
        .iter()
        .find_map(|word| text.strip_prefix(word))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    (end > 0).then(|| &rest[..end])
}

/// Where `./x.js` or `../x.js` is, seen from another module.
fn beside(path: &str, from: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in from.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(modules: &[(&str, &str)]) -> Result<String, JoinError> {
        let read = |path: &str| {
            let found = modules.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        join("app.js", &read)
    }

    #[test]
    fn what_is_imported_comes_first_and_only_once() {
        let script = joined(&[
            (
                "app.js",
                "import { twice } from \"./state/a.js\";\nimport { one as first } from \"./b.js\";\ntwice(first);\n",
            ),
            (
                "state/a.js",
                "// Says it.\nimport { one } from \"../b.js\";\n/**\n * @param x\n */\nexport function twice(x) {\n  return one + x; // both\n}\n",
            ),
            (
                "b.js",
                "/* note */\nexport const one = 1;\nexport class Two {}\n",
            ),
        ]);
        let expected = [
            "const m1 = (() => {\nconst one = 1;\nclass Two {}\nreturn { one, Two };\n})();\n",
            "const m2 = (() => {\nconst { one } = m1;\nfunction twice(x) {\n  return one + x; // both\n}\n",
            "return { twice };\n})();\n",
            "const m3 = (() => {\nconst { twice } = m2;\nconst { one: first } = m1;\ntwice(first);\n",
            "return {  };\n})();\n",
        ];
        assert_eq!(script.unwrap(), expected.concat());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let unclear = |line: usize, text: &str| JoinError::Unclear {
            path: "app.js".to_owned(),
            line,
            text: text.to_owned(),
        };
        for text in [
            "import x from \"./b.js\";",
            "import * as b from \"./b.js\";",
            "import { a,",
            "export { a };",
            "export default 1;",
            "export let a = 1;",
        ] {
            assert_eq!(joined(&[("app.js", text)]), Err(unclear(1, text)), "{text}");
        }
        let circle = [
            ("app.js", "import { a } from \"./b.js\";"),
            ("b.js", "import { c } from \"./app.js\";"),
        ];
        let path = "app.js".to_owned();
        assert_eq!(joined(&circle), Err(JoinError::Circle { path }));
        let path = "b.js".to_owned();
        assert_eq!(joined(&circle[..1]), Err(JoinError::Missing { path }));
    }
}
