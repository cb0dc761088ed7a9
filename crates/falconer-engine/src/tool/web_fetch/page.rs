//! From the bytes of a response to text: character sets, and HTML to Markdown.

/// How deep elements may be nested for the converter, which recurses. Browsers stop at 512.
const DEPTH: usize = 512;

/// Bound on the work that unclosed formatting causes: it is repeated in each later element.
const WORK: usize = 2_000_000;

/// Elements have at most so many siblings; the converter's time grows with their square.
const TAGS: usize = 40_000;

/// Larger pages are stripped of their tags instead of being converted.
const CONVERTED: usize = 4 << 20;

/// Stack of the thread that converts: enough for the depth in a build without optimisation.
const STACK: usize = 64 << 20;

/// What a media type is for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
    Binary,
}

pub(super) fn kind(content_type: &str) -> Kind {
    let essence = content_type.split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        ""
        | "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/ecmascript"
        | "application/x-ndjson"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml"
        | "application/x-sh"
        | "application/sql"
        | "image/svg+xml" => Kind::Text,
        other if other.starts_with("text/") => Kind::Text,
        other if other.ends_with("+json") || other.ends_with("+xml") => Kind::Text,
        _ => Kind::Binary,
    }
}

/// Bytes to text by the character set that the media type names, else UTF-8.
pub(super) fn decode(bytes: &[u8], content_type: &str) -> String {
    let parameters = content_type.split(';').skip(1);
    let charset = parameters
        .filter_map(|parameter| parameter.trim().split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().trim_matches('"'));
    let encoding = charset.and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes()));
    let (text, _, _) = encoding.unwrap_or(encoding_rs::UTF_8).decode(bytes);
    text.into_owned()
}

/// Markdown of an HTML page. Takes its time, so not for an async thread.
pub(super) fn markdown(html: &str) -> String {
    if !is_harmless(html) {
        return strip_tags(html);
    }
    let html = html.to_owned();
    let fallback = html.clone();
    let thread = std::thread::Builder::new().stack_size(STACK);
    let converted = thread.spawn(move || {
        let skipped = vec!["script", "style", "noscript", "template", "svg", "iframe"];
        let converter = htmd::HtmlToMarkdown::builder().skip_tags(skipped).build();
        converter.convert(&html).ok()
    });
    let converted = converted
        .ok()
        .and_then(|thread| thread.join().ok().flatten());
    converted.unwrap_or_else(|| strip_tags(&fallback))
}

/// Whether converting stays within sane limits of memory and recursion.
fn is_harmless(html: &str) -> bool {
    const VOID: &[&str] = &[
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
        "track", "wbr",
    ];
    const FORMATTING: &[&str] = &[
        "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt",
        "u",
    ];
    if html.len() > CONVERTED {
        return false;
    }
    // A paragraph or list item is often not closed, and then is not deeper, either.
    const OPEN_ENDED: &[&str] = &["p", "li", "dt", "dd", "tr", "td", "th", "option"];
    let (mut depth, mut formatting, mut peak, mut tags) = (0usize, 0usize, 0usize, 0usize);
    for tag in html.split('<').skip(1) {
        let is_end = tag.starts_with('/');
        let name = tag.trim_start_matches('/');
        let end = name
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(name.len());
        let name = name[..end].to_ascii_lowercase();
        tags += 1;
        if name.is_empty() || VOID.contains(&&*name) {
            continue;
        }
        let is_formatting = FORMATTING.contains(&&*name);
        if is_end {
            depth = depth.saturating_sub(usize::from(!OPEN_ENDED.contains(&&*name)));
            formatting = formatting.saturating_sub(usize::from(is_formatting));
        } else {
            depth += usize::from(!OPEN_ENDED.contains(&&*name));
            formatting += usize::from(is_formatting);
        }
        peak = peak.max(formatting);
        if depth > DEPTH {
            return false;
        }
    }
    tags <= TAGS && peak * tags <= WORK
}

/// The text between the tags, for pages that are too strange to be converted.
fn strip_tags(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        let after = part.split_once('>').map_or(part, |(_, after)| after);
        let words = after.split_whitespace();
        for word in words {
            text.push_str(word);
            text.push(' ');
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_markdown() {
        let html = "<html><head><title>T</title><style>x{}</style></head><body><h1>Hi</h1>\
                    <p>a <b>bold</b> <a href=\"/x\">link</a></p><script>evil()</script></body>";
        let text = markdown(html);
        assert!(
            text.contains("# Hi") && text.contains("a **bold** [link](/x)"),
            "{text}"
        );
        assert!(!text.contains("evil") && !text.contains("x{}"), "{text}");
    }

    #[test]
    fn hostile_html_is_survived() {
        let pages = [
            "<div>".repeat(100_000) + "deep",
            "<div>".repeat(DEPTH - 10) + "nested",
            "<ul><li>".repeat(100_000) + "list",
            "<div><b x=1><i y=2></div>".to_owned() + &"<div>x</div>".repeat(5_000),
            "<".repeat(300_000),
            "<p>p".repeat(TAGS + 1),
        ];
        for page in pages {
            let text = markdown(&page);
            assert!(text.len() <= 3 * page.len(), "{}", text.len());
        }
        assert!(markdown(&("<div>".repeat(100_000) + "deep")).ends_with("deep"));
    }

    #[test]
    fn media_types_and_character_sets_are_respected() {
        for (content_type, expected) in [
            ("text/html; charset=utf-8", Kind::Html),
            ("Application/JSON", Kind::Text),
            ("application/ld+json", Kind::Text),
            ("text/plain", Kind::Text),
            ("", Kind::Text),
            ("application/octet-stream", Kind::Binary),
            ("image/png", Kind::Binary),
        ] {
            assert_eq!(kind(content_type), expected, "{content_type}");
        }
        assert_eq!(decode(b"\xe4", "text/plain; charset=\"ISO-8859-1\""), "ä");
        assert_eq!(
            decode("ä\u{0}".as_bytes(), "text/plain; charset=nonsense"),
            "ä\u{0}"
        );
        assert_eq!(decode(b"\xff", "text/plain"), "\u{fffd}");
    }
}
