//! Writes the TypeScript client out of the OpenAPI description.
//!
//! One file, no dependencies, plain `fetch`. The same text without its types is JavaScript, for
//! a Node that does not strip types.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Body, Operation, Reads, operations};

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    TypeScript,
    JavaScript,
}

/// The client for this description.
pub(crate) fn client(document: &Value, flavour: Flavour) -> String {
    let mut writer = Writer {
        flavour,
        out: String::new(),
    };
    writer.line("// Falconer's API. Made from openapi.json by `cargo xtask openapi`; do not edit.");
    if flavour == Flavour::TypeScript {
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            writer.comment("", schema);
            let _ = writeln!(writer.out, "export type {name} = {};\n", type_of(schema));
        }
    }
    writer.preamble();
    for operation in operations(document) {
        writer.operation(&operation);
    }
    writer.line("}");
    writer.out
}

struct Writer {
    flavour: Flavour,
    out: String,
}

impl Writer {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A type, or nothing.
    fn typed<'a>(&self, text: &'a str) -> &'a str {
        match self.flavour {
            Flavour::TypeScript => text,
            Flavour::JavaScript => "",
        }
    }

    fn comment(&mut self, indent: &str, schema: &Value) {
        if let Some(text) = schema["description"].as_str() {
            let text = text.replace("*/", "* /").replace('\n', " ");
            let _ = writeln!(self.out, "{indent}/** {text} */");
        }
    }

    fn preamble(&mut self) {
        let text = PREAMBLE.lines().map(|line| match self.flavour {
            Flavour::TypeScript => line.replace("«", "").replace("»", ""),
            Flavour::JavaScript => without_types(line),
        });
        let text: Vec<String> = text.collect();
        self.line(&text.join("\n"));
    }

    fn operation(&mut self, operation: &Operation) {
        let mut arguments: Vec<String> = Vec::new();
        for name in &operation.places {
            arguments.push(format!("{name}{}", self.typed(": string")));
        }
        let body = match &operation.body {
            Body::Json(schema) => {
                let kind = format!(": {}", type_of(schema));
                arguments.push(format!("body{}", self.typed(&kind)));
                "body"
            }
            Body::File => {
                arguments.push(format!("name{}", self.typed(": string")));
                arguments.push(format!("body{}", self.typed(": BodyInit")));
                "{ name, bytes: body }"
            }
            Body::Nothing => "undefined",
        };
        let query = match operation.query.as_slice() {
            [] => "{}",
            fields => {
                let field =
                    |(name, schema): &(String, Value)| format!("{name}?: {}", type_of(schema));
                let fields: Vec<String> = fields.iter().map(field).collect();
                let kind = format!(": {{ {} }}", fields.join(", "));
                arguments.push(format!("query{} = {{}}", self.typed(&kind)));
                "query"
            }
        };
        let result = format!(": Promise<{}>", result_of(&operation.reads));
        let place = (operation.path)
            .replace('{', "${encodeURIComponent(")
            .replace('}', ")}");
        let _ = writeln!(
            self.out,
            "\n  /** {}. */\n  async {}({}){} {{\n    return this.call(\"{}\", `{place}`, {query}, {body}, \"{}\");\n  }}",
            operation.about,
            camel(&operation.name),
            arguments.join(", "),
            self.typed(&result),
            operation.method,
            operation.reads.word(),
        );
    }
}

/// What a call gives.
fn result_of(reads: &Reads) -> String {
    match reads {
        Reads::Nothing => "void".to_owned(),
        Reads::Json(schema) => type_of(schema),
        Reads::Text => "string".to_owned(),
        Reads::Bytes => "ArrayBuffer".to_owned(),
    }
}

fn camel(snake: &str) -> String {
    let mut words = snake.split('_');
    let mut out = words.next().unwrap().to_owned();
    for word in words {
        out.push_str(&word[..1].to_uppercase());
        out.push_str(&word[1..]);
    }
    out
}

/// A schema as a type.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.rsplit('/').next().unwrap().to_owned();
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        return values.join(" | ");
    }
    let base = (schema["properties"].is_object()).then(|| object(schema));
    for (key, with) in [("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")] {
        if let Some(parts) = schema[key].as_array() {
            let parts: Vec<String> = parts.iter().map(type_of).collect();
            let joined = format!("({})", parts.join(with));
            return match base {
                Some(base) => format!("{base} & {joined}"),
                None => joined,
            };
        }
    }
    match &schema["type"] {
        Value::String(kind) => simple(kind, schema),
        Value::Array(kinds) => {
            let kinds: Vec<String> = (kinds.iter())
                .map(|kind| simple(kind.as_str().unwrap(), schema))
                .collect();
            kinds.join(" | ")
        }
        _ => base.unwrap_or_else(|| "unknown".to_owned()),
    }
}

fn simple(kind: &str, schema: &Value) -> String {
    match kind {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => match schema["prefixItems"].as_array() {
            Some(parts) => {
                let parts: Vec<String> = parts.iter().map(type_of).collect();
                format!("[{}]", parts.join(", "))
            }
            None => format!("({})[]", type_of(&schema["items"])),
        },
        _ => object(schema),
    }
}

fn object(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object() else {
        let values = &schema["additionalProperties"];
        let values = if values.is_object() {
            type_of(values)
        } else {
            "unknown".to_owned()
        };
        return format!("Record<string, {values}>");
    };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let fields: Vec<String> = (properties.iter())
        .map(|(name, field)| {
            let mark = if required.contains(&Value::from(name.as_str())) {
                ""
            } else {
                "?"
            };
            format!("{name}{mark}: {}", type_of(field))
        })
        .collect();
    format!("{{ {} }}", fields.join("; "))
}

/// A line of the preamble without what stands between the marks.
fn without_types(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('«') {
        out.push_str(before);
        rest = after.split_once('»').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// What is the same for every description. Types stand between marks.
const PREAMBLE: &str = r#"
/** A refusal of the server, with its own words. */
export class FalconerError extends Error {
  «status: number;»
  «problem: Problem;»
  constructor(status«: number», problem«: Problem») {
    super(problem.detail ?? problem.title ?? `the server answered ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

«/** A frame of a stream. `id` is the number of an event. */»
«export type Frame = { event: string; id?: number; data: any };»

export class Falconer {
  «url: string;»
  «token: string;»

  /** `url` as the server printed it; the token is sent as a header and never in a URL. */
  constructor(url«: string», token«: string») {
    this.url = url.replace(/\/$/, "");
    this.token = token;
  }

  /** Follows a session from after an event, and comes back by itself until `signal` says stop. */
  async *follow(id«: string», after«: number» = 0, signal«?: AbortSignal»)«: AsyncGenerator<Frame>» {
    for (let failures = 0; !signal?.aborted; failures++) {
      try {
        const path = `/v1/sessions/${encodeURIComponent(id)}/stream?after=${after}`;
        for await (const frame of this.stream(path, signal)) {
          failures = 0;
          if (frame.id !== undefined) after = frame.id;
          yield frame;
          if (frame.event === "gone") return;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (error instanceof FalconerError && error.status < 500) throw error;
      }
      await new Promise((done) => setTimeout(done, Math.min(250 * 2 ** failures, 10_000)));
    }
  }

  /** The frames of one stream, until it ends. */
  async *stream(path«: string», signal«?: AbortSignal»)«: AsyncGenerator<Frame>» {
    const response = await fetch(this.url + path, { headers: this.headers(), signal });
    if (!response.ok || !response.body) throw await this.refusal(response);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body«  as any») {
      rest += decoder.decode(chunk, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = this.frame(block);
        if (frame) yield frame;
      }
    }
  }

  frame(block«: string»)«: Frame | undefined» {
    const fields«: Record<string, string>» = {};
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
    }
    if (!fields.event) return undefined;
    const frame«: Frame» = { event: fields.event, data: JSON.parse(fields.data ?? "null") };
    if (fields.id !== undefined) frame.id = Number(fields.id);
    return frame;
  }

  headers()«: Record<string, string>» {
    return { Authorization: `Bearer ${this.token}`, Accept: "application/json" };
  }

  async refusal(response«: Response»)«: Promise<FalconerError>» {
    const text = await response.text();
    try {
      return new FalconerError(response.status, JSON.parse(text));
    } catch {
      return new FalconerError(response.status, { detail: text }«  as Problem»);
    }
  }

  async call(method«: string», path«: string», query«: Record<string, unknown>», body«: unknown», reads«: string»)«: Promise<any>» {
    const url = new URL(this.url + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = this.headers();
    const init«: RequestInit» = { method, headers };
    const file = body«  as { name?: string; bytes?: BodyInit } | undefined»;
    if (file?.bytes !== undefined && file.name !== undefined) {
      headers["X-Falconer-Name"] = encodeURIComponent(file.name);
      headers["Content-Type"] = "application/octet-stream";
      init.body = file.bytes;
    } else if (method === "POST" || method === "PATCH") {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(body ?? {});
    }
    const response = await fetch(url, init);
    if (!response.ok) throw await this.refusal(response);
    if (reads === "json") return response.json();
    if (reads === "text") return response.text();
    if (reads === "bytes") return response.arrayBuffer();
    await response.arrayBuffer();
  }"#;
