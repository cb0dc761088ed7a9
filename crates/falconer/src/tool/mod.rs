//! Tools in plain Rust: an async function with typed arguments that the agent can call.

mod output;
#[cfg(feature = "rmcp")]
mod rmcp;
mod rpc;
mod server;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "rmcp")]
pub use self::rmcp::RmcpServer;
pub use output::{IntoToolOutput, MediaKind, ToolContent, ToolOutput};
pub use server::{MountedServer, ToolServer};

/// Limit on a call unless the tool sets its own.
pub const DEFAULT_TOOL_TIMEOUT: Duration = Duration::from_secs(120);

/// One tool: a name, a description for the model, and an async function.
///
/// The schema of the arguments comes from their type. Arguments that do not fit, an `Err`, a
/// panic and a call that takes too long all become tool errors that the model reads; the run
/// goes on.
///
/// ```
/// use falconer::{Tool, ToolServer};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add { a: f64, b: f64 }
///
/// async fn add(Add { a, b }: Add) -> String {
///     format!("{}", a + b)
/// }
///
/// let calc = ToolServer::new("calc").tool(Tool::new("add", "Add two numbers", add));
/// assert_eq!(calc.tool_names(), ["mcp__calc__add"]);
/// ```
#[derive(Clone)]
pub struct Tool {
    name: String,
    description: String,
    schema: Value,
    annotations: Map<String, Value>,
    meta: Map<String, Value>,
    timeout: Duration,
    run: Arc<dyn Fn(RawCall) -> BoxFuture<'static, ToolOutput> + Send + Sync>,
}

/// One call of a tool.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolCall<A> {
    /// The arguments, checked.
    pub arguments: A,
    /// The id of the `tool_use` block that caused this call, if the engine named it.
    pub tool_use_id: Option<String>,
    /// Fires when the engine no longer wants the result. The call is also dropped then.
    pub cancelled: CancellationToken,
}

/// A call before its arguments were checked.
pub(crate) struct RawCall {
    pub(crate) arguments: Value,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) cancelled: CancellationToken,
}

impl Tool {
    /// A tool whose function needs only the arguments.
    pub fn new<A, F, Fut>(name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoToolOutput,
    {
        Self::with_call(name, description, move |call: ToolCall<A>| {
            run(call.arguments)
        })
    }

    /// A tool whose function also sees which call it serves and when it is cancelled.
    pub fn with_call<A, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(ToolCall<A>) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoToolOutput,
    {
        let name = name.into();
        let in_errors = name.clone();
        let run = Arc::new(run);
        let schema = ArgumentSchema::of::<A>();
        let takes_arguments = schema.takes_arguments;
        let run = move |raw: RawCall| -> BoxFuture<'static, ToolOutput> {
            let arguments = if takes_arguments {
                raw.arguments
            } else {
                Value::Null
            };
            let arguments = match serde_json::from_value(arguments) {
                Ok(arguments) => arguments,
                Err(error) => {
                    let text = format!("invalid arguments for `{in_errors}`: {error}");
                    return Box::pin(std::future::ready(ToolOutput::error(text)));
                }
            };
            let call = ToolCall {
                arguments,
                tool_use_id: raw.tool_use_id,
                cancelled: raw.cancelled,
            };
            // The function is called inside the future so that its panics are caught there.
            let run = run.clone();
            Box::pin(async move { run(call).await.into_tool_output() })
        };
        Self {
            name,
            description: description.into(),
            schema: schema.value,
            annotations: Map::new(),
            meta: Map::new(),
            timeout: DEFAULT_TOOL_TIMEOUT,
            run: Arc::new(run),
        }
    }

    /// Gives calls of this tool a limit of their own.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Declares that the tool only reads, so that calls may run in parallel and need less
    /// asking.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.annotations.insert("readOnlyHint".into(), true.into());
        self
    }

    /// Sets an MCP annotation by its name, such as `destructiveHint` or `title`.
    #[must_use]
    pub fn annotation(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.annotations.insert(name.into(), value.into());
        self
    }

    /// Puts the tool into every prompt instead of leaving it to be searched for.
    #[must_use]
    pub fn always_load(mut self) -> Self {
        self.meta.insert("anthropic/alwaysLoad".into(), true.into());
        self
    }

    /// Words by which the engine finds the tool when tools are searched for.
    #[must_use]
    pub fn search_hint(mut self, hint: impl Into<String>) -> Self {
        self.meta
            .insert("anthropic/searchHint".into(), hint.into().into());
        self
    }

    /// The name, without the server's prefix.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The JSON Schema of the arguments.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The entry of this tool in `tools/list`.
    fn listing(&self) -> Value {
        let mut entry = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema,
        });
        if !self.annotations.is_empty() {
            entry["annotations"] = self.annotations.clone().into();
        }
        if !self.meta.is_empty() {
            entry["_meta"] = self.meta.clone().into();
        }
        entry
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("schema", &self.schema)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The schema of a tool's arguments as MCP wants it: an object.
struct ArgumentSchema {
    value: Value,
    /// `false` for `()`: whatever the model sends is ignored.
    takes_arguments: bool,
}

impl ArgumentSchema {
    fn of<A: JsonSchema>() -> Self {
        let schema = schemars::schema_for!(A).to_value();
        if schema.get("type") == Some(&"null".into()) {
            let value = json!({ "type": "object", "properties": {} });
            return Self {
                value,
                takes_arguments: false,
            };
        }
        Self {
            value: schema,
            takes_arguments: true,
        }
    }
}
