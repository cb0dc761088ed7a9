//! Whether a here-document ends where the parser thinks it does.

use tree_sitter::Node;

/// Checks a `heredoc_redirect`.
pub(super) fn is_clear(node: Node<'_>, source: &str) -> bool {
    let child = |kind| {
        let mut cursor = node.walk();
        node.children(&mut cursor)
            .find(|child| child.kind() == kind)
    };
    let text = |node: Node<'_>| &source[node.byte_range()];
    let (Some(start), Some(body), Some(end)) = (
        child("heredoc_start"),
        child("heredoc_body"),
        child("heredoc_end"),
    ) else {
        return false;
    };
    let Some((delimiter, is_raw)) = delimiter(text(start)) else {
        return false;
    };
    let ends_early = text(body)
        .lines()
        .any(|line| line.trim_start_matches('\t') == delimiter);
    text(end).trim_matches(['\t', '\n']) == delimiter
        && !ends_early
        && (is_raw || !hides_substitution(body, source))
}

/// The delimiter, and whether the body is taken as it is.
fn delimiter(written: &str) -> Option<(&str, bool)> {
    let unquoted = ['\'', '"'].iter().find_map(|quote| {
        written
            .strip_prefix(*quote)
            .and_then(|rest| rest.strip_suffix(*quote))
    });
    let plain = unquoted.unwrap_or(written);
    let is_name = plain
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !plain.is_empty()).then_some((plain, unquoted.is_some()))
}

fn hides_substitution(body: Node<'_>, source: &str) -> bool {
    let mut cursor = body.walk();
    let mut rest = body.start_byte();
    let mut hidden = false;
    for child in body.named_children(&mut cursor) {
        hidden |= looks_dynamic(&source[rest..child.start_byte()]);
        if child.kind() == "heredoc_content" {
            hidden |= looks_dynamic(&source[child.byte_range()]);
        }
        rest = child.end_byte();
    }
    hidden || looks_dynamic(&source[rest..body.end_byte()])
}

/// Whether text that the parser took for plain could still run something.
pub(super) fn looks_dynamic(text: &str) -> bool {
    text.contains('`') || text.contains("$(") || text.contains("${") || text.contains("$[")
}
