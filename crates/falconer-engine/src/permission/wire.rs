//! Rules as hosts send and get them.

use falconer_protocol::permission::PermissionRule;
use falconer_rule::RuleText;

pub(super) fn to_wire(rule: &RuleText) -> PermissionRule {
    PermissionRule {
        tool_name: rule.tool.clone(),
        rule_content: rule.content.clone(),
        ..PermissionRule::default()
    }
}

/// A rule of the host, as text.
pub(super) fn text_of_wire(rule: &PermissionRule) -> String {
    match &rule.rule_content {
        Some(content) => format!("{}({content})", rule.tool_name),
        None => rule.tool_name.clone(),
    }
}
