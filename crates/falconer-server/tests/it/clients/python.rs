//! Writes the Python client out of the OpenAPI description.
//!
//! One file, the standard library only, Python 3.9 and later.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Body, Operation, Reads, operations, resolved};

/// The client for this description.
pub(crate) fn client(document: &Value) -> String {
    let mut out = PREAMBLE.to_owned();
    for operation in operations(document) {
        write(&mut out, document, &operation);
    }
    out
}

/// A field of a body: its name, its type, and whether it has to be there.
struct Field {
    name: String,
    kind: String,
    is_needed: bool,
}

fn fields(document: &Value, schema: &Value) -> Vec<Field> {
    let schema = resolved(document, schema);
    let needed = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object();
    let properties = properties.expect("a body is an object with fields").iter();
    let mut fields: Vec<Field> = properties
        .map(|(name, schema)| Field {
            name: name.clone(),
            kind: type_of(document, schema),
            is_needed: needed.contains(&Value::from(name.as_str())),
        })
        .collect();
    fields.sort_by_key(|field| !field.is_needed);
    fields
}

fn write(out: &mut String, document: &Value, operation: &Operation) {
    let mut arguments = vec!["self".to_owned()];
    let places = operation.places.iter();
    arguments.extend(places.map(|name| format!("{name}: str")));
    let (body, named) = match &operation.body {
        Body::Nothing => ("None".to_owned(), Vec::new()),
        Body::File => {
            arguments.extend(["name: str".to_owned(), "body: bytes".to_owned()]);
            ("File(name, body)".to_owned(), Vec::new())
        }
        Body::Json(schema) => {
            let fields = fields(document, schema);
            let pairs = fields
                .iter()
                .map(|field| format!("\"{0}\": {0}", field.name));
            let pairs: Vec<String> = pairs.collect();
            (format!("{{{}}}", pairs.join(", ")), fields)
        }
    };
    let query = operation.query.iter().map(|(name, schema)| Field {
        name: name.clone(),
        kind: type_of(document, schema),
        is_needed: false,
    });
    let query: Vec<Field> = query.collect();
    if !named.is_empty() || !query.is_empty() {
        arguments.push("*".to_owned());
    }
    for field in named.iter().chain(&query) {
        assert!(!operation.places.contains(&field.name), "{}", field.name);
        let Field { name, kind, .. } = field;
        arguments.push(if field.is_needed {
            format!("{name}: {kind}")
        } else {
            format!("{name}: Optional[{kind}] = None")
        });
    }
    let pairs = query
        .iter()
        .map(|field| format!("\"{0}\": {0}", field.name));
    let pairs: Vec<String> = pairs.collect();
    let result = match &operation.reads {
        Reads::Nothing => "None".to_owned(),
        Reads::Json(schema) => type_of(document, schema),
        Reads::Text => "str".to_owned(),
        Reads::Bytes => "bytes".to_owned(),
    };
    let path = operation.path.replace('{', "{_word(").replace('}', ")}");
    let mark = if path == operation.path { "" } else { "f" };
    let _ = writeln!(
        out,
        "\n    def {}({}) -> {result}:\n        \"\"\"{}.\"\"\"\n        return self._call(\"{}\", {mark}\"{path}\", {{{}}}, {body}, \"{}\")",
        operation.name,
        arguments.join(", "),
        operation.about,
        operation.method,
        pairs.join(", "),
        operation.reads.word(),
    );
}

/// A schema as a type that says as much as a caller needs.
fn type_of(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    let kind = match &schema["type"] {
        Value::String(kind) => kind.as_str(),
        Value::Array(kinds) => {
            let kinds = kinds.iter().filter_map(Value::as_str);
            let mut kinds = kinds.filter(|kind| *kind != "null");
            kinds.next().unwrap_or_default()
        }
        _ => return of_parts(document, schema),
    };
    match kind {
        "string" => "str",
        "integer" => "int",
        "number" => "float",
        "boolean" => "bool",
        "array" => "List[Any]",
        "object" => "Dict[str, Any]",
        _ => "Any",
    }
    .to_owned()
}

/// One of several: their type if it is the same for all but `null`.
fn of_parts(document: &Value, schema: &Value) -> String {
    let parts = ["oneOf", "anyOf", "allOf"]
        .iter()
        .find_map(|key| schema[key].as_array());
    let parts = parts.into_iter().flatten();
    let mut kinds: Vec<String> = parts
        .filter(|part| part["type"] != "null")
        .map(|part| type_of(document, part))
        .collect();
    kinds.dedup();
    match kinds.as_slice() {
        [kind] => kind.clone(),
        _ => "Any".to_owned(),
    }
}

/// What is the same for every description.
const PREAMBLE: &str = r#""""Falconer's API. Made from openapi.json by `cargo xtask openapi`; do not edit.

Needs nothing but Python 3.9:

    from falconer import Falconer

    falconer = Falconer("http://127.0.0.1:4780", token)
    session = falconer.create_session(cwd="/srv/site", message={"client_msg_id": "1", "text": "hello"})
    for frame in falconer.follow(session["id"]):
        print(frame.event, frame.data)
"""

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

# The server says something every 15 seconds; a stream that is silent for longer is gone.
SILENCE = 60.0
# An agent may have to be started before an answer.
PATIENCE = 120.0


class Frame(NamedTuple):
    """A frame of a stream. `id` is the number of an event."""

    event: str
    id: Optional[int]
    data: Any


class File(NamedTuple):
    """Bytes with a name."""

    name: str
    content: bytes


class FalconerError(Exception):
    """A refusal of the server, with its own words."""

    def __init__(self, status: int, problem: Dict[str, Any]):
        super().__init__(problem.get("detail") or problem.get("title") or f"the server answered {status}")
        self.status = status
        self.problem = problem

    @property
    def code(self) -> Optional[str]:
        """The kind of the problem, for programs."""
        return self.problem.get("code")


def _word(text: str) -> str:
    return urllib.parse.quote(str(text), safe="")


def _refusal(error: urllib.error.HTTPError) -> FalconerError:
    text = error.read().decode("utf-8", "replace")
    try:
        problem = json.loads(text)
    except ValueError:
        problem = {"detail": text}
    return FalconerError(error.code, problem if isinstance(problem, dict) else {"detail": text})


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Falconer:
    """A server. The token is sent as a header and never in a URL."""

    def __init__(self, url: str, token: str):
        self.url = url.rstrip("/")
        self.token = token
        # A token must not go through whatever proxy the environment names, nor to another address.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())

    def follow(self, session: str, after: int = 0) -> Iterator[Frame]:
        """Follows a session from after an event, and comes back by itself for as long as it is read."""
        failures = 0
        while True:
            try:
                for frame in self.stream(f"/v1/sessions/{_word(session)}/stream", after):
                    failures = 0
                    if frame.id is not None:
                        after = frame.id
                    yield frame
                    if frame.event == "gone":
                        return
            except FalconerError as refusal:
                if refusal.status < 500:
                    raise
            except (OSError, http.client.HTTPException):
                pass  # the connection was cut: come back
            time.sleep(min(0.25 * 2**failures, 10.0))
            failures += 1

    def stream(self, path: str, after: int = 0) -> Iterator[Frame]:
        """The frames of one stream, until it ends."""
        headers = {"Last-Event-ID": str(after)} if after else {}
        with self._open("GET", path, headers, None, SILENCE) as response:
            fields: Dict[str, str] = {}
            for line in response:
                text = line.decode("utf-8").rstrip("\r\n")
                if text:
                    name, _, value = text.partition(":")
                    fields[name] = value[1:] if value.startswith(" ") else value
                    continue
                if fields.get("event"):
                    number = int(fields["id"]) if "id" in fields else None
                    yield Frame(fields["event"], number, json.loads(fields.get("data", "null")))
                fields = {}

    def _open(self, method: str, path: str, headers: Dict[str, str], body: Optional[bytes], limit: float) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", **headers}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            return self._opener.open(request, timeout=limit)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error) from None

    def _call(self, method: str, path: str, query: Dict[str, Any], body: Any, reads: str) -> Any:
        asked = {name: value for name, value in query.items() if value is not None}
        if asked:
            path += "?" + urllib.parse.urlencode(asked)
        headers = {"Accept": "application/json"}
        content = None
        if isinstance(body, File):
            headers["X-Falconer-Name"] = _word(body.name)
            headers["Content-Type"] = "application/octet-stream"
            content = body.content
        elif method in ("POST", "PATCH"):
            headers["Content-Type"] = "application/json"
            said = {name: value for name, value in (body or {}).items() if value is not None}
            content = json.dumps(said).encode("utf-8")
        with self._open(method, path, headers, content, PATIENCE) as response:
            answer = response.read()
        if reads == "json":
            return json.loads(answer)
        if reads == "text":
            return answer.decode("utf-8")
        return answer if reads == "bytes" else None
"#;
