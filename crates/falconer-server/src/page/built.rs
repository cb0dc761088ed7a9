//! The page as browsers get it: the HTML, one script and one style sheet.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use super::Files;
use super::join::{JoinError, join};

/// In the order in which they count.
const STYLES: [&str; 4] = ["theme.css", "layout.css", "timeline.css", "cards.css"];

/// Something to send, and what it is called so that a browser can keep it.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) version: String,
}

impl Part {
    fn new(text: String) -> Self {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        Self {
            version: hash[..16].to_owned(),
            text,
        }
    }
}

/// The page as browsers get it.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) index: Part,
    pub(super) script: Part,
    pub(super) style: Part,
}

impl Built {
    pub(super) fn new() -> Result<Self, JoinError> {
        let script = Part::new(join("app.js", &source)?);
        let styles = STYLES.map(|path| {
            let missing = || JoinError::Missing {
                path: path.to_owned(),
            };
            source(path).ok_or_else(missing)
        });
        let styles: Result<Vec<String>, JoinError> = styles.into_iter().collect();
        let style = Part::new(styles?.concat());
        let index = source("index.html").ok_or_else(|| JoinError::Missing {
            path: "index.html".to_owned(),
        })?;
        // An address with a version can be kept for ever: another version has another address.
        let index = index
            .replace("/page.css\"", &format!("/page.css?v={}\"", style.version))
            .replace("/page.js\"", &format!("/page.js?v={}\"", script.version));
        Ok(Self {
            index: Part::new(index),
            script,
            style,
        })
    }

    /// The page. A debug build reads its files again whenever somebody begins with it.
    pub(super) fn begun() -> Result<Arc<Self>, JoinError> {
        if cfg!(debug_assertions) {
            Self::again()
        } else {
            Self::known()
        }
    }

    /// The page as somebody began with it.
    pub(super) fn known() -> Result<Arc<Self>, JoinError> {
        let kept = KEPT.read().unwrap_or_else(PoisonError::into_inner).clone();
        match kept {
            Some(built) => Ok(built),
            None => Self::again(),
        }
    }

    fn again() -> Result<Arc<Self>, JoinError> {
        let built = Arc::new(Self::new()?);
        *KEPT.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&built));
        Ok(built)
    }
}

static KEPT: LazyLock<RwLock<Option<Arc<Built>>>> = LazyLock::new(RwLock::default);

fn source(path: &str) -> Option<String> {
    let file = Files::get(path)?;
    String::from_utf8(file.data.into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_page_is_joined() {
        let built = Built::new().unwrap();
        for part in [&built.script, &built.style] {
            assert!(built.index.text.contains(&part.version));
        }
        assert!(built.style.text.contains(".card"));
        for word in ["import ", "export "] {
            let mut lines = built.script.text.lines();
            assert!(!lines.any(|line| line.starts_with(word)), "{word}");
        }
    }
}
