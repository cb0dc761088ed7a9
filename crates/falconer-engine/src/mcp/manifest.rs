//! What a server in the host has said already, so that the first words need no round trips.

use rmcp::model::ProtocolVersion;
use serde_json::Value;

/// The answers of one server to the questions that begin a connection. Used once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    initialize: Value,
    tools: Option<Value>,
}

/// Why a manifest is not used; then the server is asked itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unusable {
    Malformed,
    /// Its server speaks another version than we ask for.
    OtherVersion,
}

impl Unusable {
    /// The word on the wire.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::OtherVersion => "protocol_version_mismatch",
        }
    }
}

impl Manifest {
    pub(crate) fn read(value: &Value) -> Result<Self, Unusable> {
        let initialize = value.get("initializeResult").filter(|it| it.is_object());
        let initialize = initialize.ok_or(Unusable::Malformed)?.clone();
        let tools = value.get("toolsListResult").filter(|it| !it.is_null());
        let lists = |it: &&Value| it.get("tools").is_some_and(Value::is_array);
        if tools.is_some() && tools.filter(lists).is_none() {
            return Err(Unusable::Malformed);
        }
        let version = initialize.get("protocolVersion").and_then(Value::as_str);
        match version {
            None => Err(Unusable::Malformed),
            Some(version) if version != ProtocolVersion::LATEST_WITH_INITIALIZE.as_str() => {
                Err(Unusable::OtherVersion)
            }
            Some(_) => Ok(Self {
                initialize,
                // A list with more pages is read from the server.
                tools: tools.filter(|it| it.get("nextCursor").is_none()).cloned(),
            }),
        }
    }

    pub(super) fn into_answers(self) -> Answers {
        Answers {
            initialize: Some(self.initialize),
            tools: self.tools,
            greeted: false,
        }
    }
}

/// What of a manifest has not been used yet.
#[derive(Debug, Default)]
pub(super) struct Answers {
    initialize: Option<Value>,
    tools: Option<Value>,
    /// The server was greeted by the host, and need not be told so.
    greeted: bool,
}

/// What is known about a message to the server.
#[derive(Debug, PartialEq)]
pub(super) enum Known {
    /// The result it would get.
    Result(Value),
    /// It need not be sent.
    Superfluous,
    Nothing,
}

impl Answers {
    pub(super) fn take(&mut self, message: &Value) -> Known {
        let result = match message["method"].as_str() {
            Some("initialize") => {
                let result = self.initialize.take();
                self.greeted = result.is_some();
                result
            }
            Some("notifications/initialized") if std::mem::take(&mut self.greeted) => {
                return Known::Superfluous;
            }
            Some("tools/list") => self.tools.take(),
            _ => None,
        };
        result.map_or(Known::Nothing, Known::Result)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Value {
        let version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        json!({
            "initializeResult": {"protocolVersion": version, "capabilities": {"tools": {}}},
            "toolsListResult": {"tools": []},
        })
    }

    #[test]
    fn only_whole_manifests_of_our_version_are_used() {
        let mut other = manifest();
        other["initializeResult"]["protocolVersion"] = json!("1999-01-01");
        let mut odd_list = manifest();
        odd_list["toolsListResult"] = json!({"tools": 1});
        let table = [
            (json!({}), Unusable::Malformed),
            (json!(7), Unusable::Malformed),
            (json!({"initializeResult": {}}), Unusable::Malformed),
            (odd_list, Unusable::Malformed),
            (other, Unusable::OtherVersion),
        ];
        for (value, expected) in table {
            assert_eq!(Manifest::read(&value), Err(expected), "{value}");
        }
        assert!(Manifest::read(&manifest()).is_ok());
    }

    #[test]
    fn each_answer_is_given_once() {
        let mut answers = Manifest::read(&manifest()).unwrap().into_answers();
        let mut take = |method: &str| answers.take(&json!({"method": method}));
        assert!(matches!(take("initialize"), Known::Result(_)));
        assert_eq!(take("notifications/initialized"), Known::Superfluous);
        assert!(matches!(take("tools/list"), Known::Result(_)));
        assert_eq!(take("tools/list"), Known::Nothing);
        assert_eq!(take("initialize"), Known::Nothing);
        assert_eq!(take("notifications/initialized"), Known::Nothing);
        assert_eq!(take("tools/call"), Known::Nothing);
    }
}
