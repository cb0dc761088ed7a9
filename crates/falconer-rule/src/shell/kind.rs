//! Kinds of nodes of the syntax tree, and what is looked at in each.

use std::sync::LazyLock;

use tree_sitter::{Language, Node};

/// What a node is to the walk. A kind that is not listed makes the whole command opaque.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Between its children there is only space.
    Frame,
    Compound,
    For,
    Command,
    Assignment,
    Declaration,
    Test,
    FileRedirect,
    HereDocument,
    Substitution,
    Expansion,
    Arithmetic,
    CountingFor,
    Comment,
    Plain,
    Pattern,
    Variable,
    String,
    /// Only its children matter.
    Transparent,
    Other,
}

/// Whether a node has to be on one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    Any,
    One,
    /// If it has no children and a name.
    OneAsLeaf,
}

static KINDS: LazyLock<Vec<(Kind, Lines)>> = LazyLock::new(|| {
    let language = Language::from(tree_sitter_bash::LANGUAGE);
    let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
    let name = |id| language.node_kind_for_id(id).unwrap_or_default();
    (0..count)
        .map(|id| (kind(name(id)), lines(name(id))))
        .collect()
});

/// Returns the kind of a node.
pub(super) fn of(node: Node<'_>) -> (Kind, Lines) {
    let known = KINDS.get(usize::from(node.kind_id()));
    known.copied().unwrap_or((Kind::Other, Lines::OneAsLeaf))
}

fn kind(name: &str) -> Kind {
    match name {
        "compound_statement" => Kind::Compound,
        "program"
        | "list"
        | "pipeline"
        | "subshell"
        | "negated_command"
        | "redirected_statement"
        | "if_statement"
        | "elif_clause"
        | "else_clause"
        | "while_statement"
        | "do_group"
        | "case_statement"
        | "case_item"
        | "function_definition"
        | "concatenation" => Kind::Frame,
        "for_statement" => Kind::For,
        "command" => Kind::Command,
        "variable_assignment" | "variable_assignments" => Kind::Assignment,
        "declaration_command" | "unset_command" => Kind::Declaration,
        "test_command" => Kind::Test,
        "file_redirect" => Kind::FileRedirect,
        "heredoc_redirect" => Kind::HereDocument,
        "command_substitution" => Kind::Substitution,
        "expansion" => Kind::Expansion,
        "arithmetic_expansion" => Kind::Arithmetic,
        "c_style_for_statement" => Kind::CountingFor,
        "comment" => Kind::Comment,
        "string_content" | "word" => Kind::Plain,
        "regex" | "extglob_pattern" => Kind::Pattern,
        "simple_expansion" => Kind::Variable,
        "string" => Kind::String,
        "herestring_redirect"
        | "process_substitution"
        | "command_name"
        | "raw_string"
        | "ansi_c_string"
        | "translated_string"
        | "number"
        | "variable_name"
        | "special_variable_name"
        | "array"
        | "subscript"
        | "heredoc_body"
        | "heredoc_start"
        | "heredoc_end"
        | "heredoc_content"
        | "file_descriptor"
        | "brace_expression"
        | "binary_expression"
        | "unary_expression"
        | "parenthesized_expression"
        | "postfix_expression"
        | "ternary_expression"
        | "test_operator" => Kind::Transparent,
        _ => Kind::Other,
    }
}

fn lines(name: &str) -> Lines {
    match name {
        "raw_string" | "ansi_c_string" | "string_content" | "heredoc_body" | "heredoc_content"
        | "heredoc_end" | "heredoc_start" => Lines::Any,
        "command"
        | "herestring_redirect"
        | "file_redirect"
        | "heredoc_redirect"
        | "variable_assignment"
        | "variable_assignments"
        | "declaration_command"
        | "unset_command"
        | "concatenation"
        | "command_name"
        | "test_command"
        | "unary_expression"
        | "binary_expression"
        | "negated_command"
        | "expansion"
        | "simple_expansion"
        | "subscript"
        | "translated_string" => Lines::One,
        _ => Lines::OneAsLeaf,
    }
}
