//! Markdown of an agent to HTML a page can show.
//!
//! What an agent writes is hostile: a web page it read may have told it what to write. HTML in
//! the Markdown is shown as text, images are not loaded, and what comes out is cleaned once more
//! against a list of what may stay.

use std::sync::LazyLock;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// The longest text that is rendered.
pub(crate) const LONGEST: usize = 256 << 10;
/// Deeper ones take the HTML parser a time that grows with the square of the depth, and nobody
/// reads them: they are shown as they were written.
const DEEPEST: usize = 64;
/// How many texts at a time.
pub(crate) const MOST: usize = 64;

static CLEANER: LazyLock<ammonia::Builder<'static>> = LazyLock::new(cleaner);

/// Safe HTML for a Markdown text.
pub(crate) fn render(markdown: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events: Vec<Event<'_>> = Parser::new_ext(markdown, options).map(defused).collect();
    if depth(&events) > DEEPEST {
        let as_written = [
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)),
            Event::Text(CowStr::from(markdown)),
            Event::End(TagEnd::CodeBlock),
        ];
        return clean(as_written.into_iter(), markdown.len());
    }
    clean(events.into_iter(), markdown.len())
}

fn clean<'a>(events: impl Iterator<Item = Event<'a>>, length: usize) -> String {
    let mut unsafe_html = String::with_capacity(length * 3 / 2);
    html::push_html(&mut unsafe_html, events);
    CLEANER.clean(&unsafe_html).to_string()
}

/// How deep elements are in each other.
fn depth(events: &[Event<'_>]) -> usize {
    let mut now = 0usize;
    let mut deepest = 0;
    for event in events {
        match event {
            Event::Start(_) => now += 1,
            Event::End(_) => now = now.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(now);
    }
    deepest
}

/// HTML becomes text, an image becomes a link to it.
fn defused(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Image {
            link_type,
            dest_url,
            title,
            id,
        }) => Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        Event::InlineMath(text) | Event::DisplayMath(text) => Event::Code(text),
        Event::FootnoteReference(text) => Event::Text(CowStr::from(format!("[{text}]"))),
        other => other,
    }
}

fn cleaner() -> ammonia::Builder<'static> {
    let mut builder = ammonia::Builder::empty();
    builder
        .tags(
            [
                "a",
                "blockquote",
                "br",
                "code",
                "del",
                "em",
                "h1",
                "h2",
                "h3",
                "h4",
                "h5",
                "h6",
                "hr",
                "input",
                "li",
                "ol",
                "p",
                "pre",
                "strong",
                "table",
                "tbody",
                "td",
                "th",
                "thead",
                "tr",
                "ul",
            ]
            .into(),
        )
        .clean_content_tags(["script", "style"].into())
        .add_tag_attributes("a", ["href", "title"])
        .add_tag_attributes("code", ["class"])
        .add_tag_attributes("ol", ["start"])
        .add_tag_attribute_values("input", "type", ["checkbox"])
        .add_tag_attributes("input", ["disabled", "checked"])
        .url_schemes(["http", "https", "mailto"].into())
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(|tag, name, value| match (tag, name) {
            ("code", "class") => is_language(value).then(|| value.into()),
            _ => Some(value.into()),
        });
    builder
}

fn is_language(class: &str) -> bool {
    class.strip_prefix("language-").is_some_and(|name| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-_#.".contains(&byte);
        !name.is_empty() && name.len() <= 32 && name.bytes().all(is_plain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_markdown_looks_as_it_should() {
        for (markdown, html) in [
            (
                "a **b** `c`",
                "<p>a <strong>b</strong> <code>c</code></p>\n",
            ),
            (
                "```rust\nfn x() {}\n```",
                "<pre><code class=\"language-rust\">fn x() {}\n</code></pre>\n",
            ),
            (
                "[x](https://example.org)",
                "<p><a href=\"https://example.org\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">x</a></p>\n",
            ),
            (
                "- [x] done",
                "<ul>\n<li><input disabled=\"\" type=\"checkbox\" checked=\"\">\ndone</li>\n</ul>\n",
            ),
        ] {
            assert_eq!(render(markdown), html, "{markdown}");
        }
    }

    #[test]
    fn nothing_in_it_runs_or_loads() {
        let attacks = [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "a <b onmouseover=alert(1)>b</b>",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt&colon;alert(1))",
            "[x](data:text/html,<script>alert(1)</script>)",
            "![x](https://evil.example/pixel.png)",
            "![x](javascript:alert(1))",
            "<iframe src=https://evil.example></iframe>",
            "<svg><script>alert(1)</script></svg>",
            "<math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">",
            "<style>@import 'https://evil.example'</style>",
            "<a href=\"x\" style=\"background:url(https://evil.example)\">x</a>",
            "```\"><script>alert(1)</script>\nx\n```",
            "```language onclick=alert(1)\nx\n```",
            "[x](//evil.example)",
            "<form action=https://evil.example><button>x</button></form>",
            "<base href=https://evil.example>",
            "\u{0}<scr\u{0}ipt>alert(1)</script>",
            "<div>\n\n<script>\n\nalert(1)\n</script>",
        ];
        for attack in attacks {
            let html = render(attack).to_lowercase();
            let tags: Vec<&str> = html.split('<').skip(1).collect();
            for tag in tags {
                let name = tag.trim_start_matches('/');
                let name = name
                    .split(|c: char| !c.is_ascii_alphanumeric())
                    .next()
                    .unwrap();
                let allowed = ["p", "a", "code", "pre", "em", "strong", "br"];
                assert!(allowed.contains(&name), "{attack} gave {html}");
                let inside = tag.split('>').next().unwrap();
                for word in ["javascript:", "data:", " on", "style", "src="] {
                    assert!(!inside.contains(word), "{attack} gave {html}");
                }
            }
        }
    }

    #[test]
    fn deep_nesting_is_shown_as_it_was_written() {
        for part in [">", "- ", "*a **b ", "["] {
            let deep = part.repeat(20_000);
            let html = render(&deep);
            assert!(html.len() < 400_000, "{part}");
            let elements = html.matches('<').count();
            assert!(elements < 1_000, "{part} gave {elements} tags");
        }
        let quoted = ">".repeat(20) + " text";
        assert!(render(&quoted).contains("<blockquote>"));
    }
}
