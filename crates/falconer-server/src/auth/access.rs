//! What a credential must carry for each route: one table. A route that is not in it is refused.

use falconer_store::Scope;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody who reaches the server.
    Public,
    /// Everybody with a credential.
    Known,
    /// Credentials with this scope.
    With(Scope),
}

const READ: Access = Access::With(Scope::Read);
const OPERATE: Access = Access::With(Scope::Operate);
const APPROVE: Access = Access::With(Scope::Approve);
const ADMIN: Access = Access::With(Scope::Admin);

/// Every route, as the router spells it.
pub(crate) const TABLE: &[(&str, &str, Access)] = &[
    ("GET", "/", Access::Public),
    ("GET", "/assets/{*path}", Access::Public),
    ("GET", "/health", Access::Public),
    ("GET", "/ready", Access::Public),
    ("GET", "/openapi.json", Access::Public),
    ("GET", "/metrics", READ),
    ("POST", "/v1/login", Access::Public),
    ("POST", "/v1/logout", Access::Known),
    ("GET", "/v1/me", Access::Known),
    ("POST", "/v1/codes", ADMIN),
    ("GET", "/v1/sessions", READ),
    ("POST", "/v1/sessions", OPERATE),
    ("GET", "/v1/sessions/{id}", READ),
    ("PATCH", "/v1/sessions/{id}", OPERATE),
    ("DELETE", "/v1/sessions/{id}", OPERATE),
    ("POST", "/v1/sessions/{id}/fork", OPERATE),
    ("POST", "/v1/sessions/{id}/close", OPERATE),
    ("POST", "/v1/sessions/{id}/resume", OPERATE),
    ("POST", "/v1/sessions/{id}/interrupt", OPERATE),
    ("GET", "/v1/sessions/{id}/messages", READ),
    ("POST", "/v1/sessions/{id}/messages", OPERATE),
    ("DELETE", "/v1/sessions/{id}/messages/{message}", OPERATE),
    ("GET", "/v1/sessions/{id}/events", READ),
    ("GET", "/v1/sessions/{id}/stream", READ),
    ("POST", "/v1/sessions/{id}/tasks/{task}/stop", OPERATE),
    ("GET", "/v1/sessions/{id}/commands", READ),
    ("GET", "/v1/sessions/{id}/export", READ),
    ("GET", "/v1/stream", READ),
    ("GET", "/v1/ws", READ),
    ("GET", "/v1/requests", READ),
    ("GET", "/v1/requests/{id}", READ),
    ("POST", "/v1/requests/{id}/answer", APPROVE),
    ("GET", "/v1/rules", READ),
    ("POST", "/v1/rules", APPROVE),
    ("PATCH", "/v1/rules/{id}", APPROVE),
    ("DELETE", "/v1/rules/{id}", APPROVE),
    ("POST", "/v1/rules/explain", READ),
    ("GET", "/v1/trust", READ),
    ("POST", "/v1/trust", APPROVE),
    ("GET", "/v1/engines", READ),
    ("GET", "/v1/models", READ),
    ("POST", "/v1/attachments", OPERATE),
    ("GET", "/v1/attachments/{id}", READ),
    ("GET", "/v1/folders", READ),
    ("POST", "/v1/render", READ),
    ("GET", "/v1/tokens", ADMIN),
    ("POST", "/v1/tokens", ADMIN),
    ("DELETE", "/v1/tokens/{id}", ADMIN),
    ("GET", "/v1/audit", ADMIN),
];

/// What the table says of a route; nothing if it is not in it.
pub(crate) fn access(method: &str, path: &str) -> Option<Access> {
    let method = match method {
        "HEAD" => "GET",
        other => other,
    };
    TABLE
        .iter()
        .find(|row| row.0 == method && row.1 == path)
        .map(|row| row.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_route_is_in_the_table_once() {
        for (index, row) in TABLE.iter().enumerate() {
            let again = TABLE[index + 1..]
                .iter()
                .any(|other| (other.0, other.1) == (row.0, row.1));
            assert!(!again, "{} {}", row.0, row.1);
        }
    }

    #[test]
    fn nothing_changes_without_a_credential() {
        for (method, path, access) in TABLE {
            let is_login = *path == "/v1/login";
            if *method != "GET" && !is_login {
                assert_ne!(*access, Access::Public, "{method} {path}");
            }
            let is_open = ["/", "/assets/{*path}", "/health", "/ready", "/openapi.json"];
            if *access == Access::Public && !is_login {
                assert!(is_open.contains(path), "{method} {path}");
            }
        }
    }

    #[test]
    fn approving_is_a_right_of_its_own() {
        for (method, path) in [
            ("POST", "/v1/requests/{id}/answer"),
            ("POST", "/v1/rules"),
            ("PATCH", "/v1/rules/{id}"),
            ("POST", "/v1/trust"),
        ] {
            assert_eq!(access(method, path), Some(APPROVE));
        }
        assert_eq!(access("PUT", "/v1/rules"), None);
        assert_eq!(access("HEAD", "/v1/rules"), Some(READ));
    }
}
