//! A conversation with a model, as the API takes it.
//!
//! Each message is written as JSON once, when it is added. A request shares these texts, so its
//! cost is that of the new messages and of at most two marks, however long the conversation is.
//! Blocks and fields we do not know stay as they came, keys in their order; who looks at a block
//! gets it decoded into the types of the protocol.

use std::ops::Range;
use std::sync::Arc;

use falconer_model::JsonText;
use falconer_protocol::content::ContentBlock;
use serde_json::Value;

/// Marks the end of what the API shall keep in its cache.
const MARK: &[u8] = br#""cache_control":{"type":"ephemeral"}"#;

/// The side that a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Assistant,
}

/// The messages between user and model. A clone shares them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    messages: Vec<Arc<Message>>,
}

/// One message, written.
#[derive(Debug)]
pub(crate) struct Message {
    role: Role,
    text: JsonText,
    content: Span,
    /// The blocks of the content; none if it is a string.
    blocks: Vec<Span>,
}

type Span = Range<usize>;

impl Conversation {
    /// Writes messages that the API took before.
    pub(crate) fn resumed(messages: &[Value]) -> Self {
        let messages = messages.iter().map(Message::read);
        Self {
            messages: messages.map(Arc::new).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().map(Arc::as_ref)
    }

    /// Adds a message of the user: a string, or blocks.
    pub(crate) fn push_user(&mut self, content: &Value) {
        self.push(Role::User, content);
    }

    /// Adds an answer of the model. One without blocks is left out.
    pub(crate) fn push_assistant(&mut self, blocks: Vec<Value>) {
        if !blocks.is_empty() {
            self.push(Role::Assistant, &Value::Array(blocks));
        }
    }

    fn push(&mut self, role: Role, content: &Value) {
        self.messages.push(Arc::new(Message::new(role, content)));
    }

    /// Takes the message that was added last back.
    pub(crate) fn pop(&mut self) {
        self.messages.pop();
    }

    /// Returns the messages for a request; the last `marks` of the user carry a cache mark.
    pub(crate) fn written(&self, marks: usize) -> Vec<JsonText> {
        let mut texts: Vec<JsonText> = self.messages().map(|it| it.text.clone()).collect();
        let users = self.messages.iter().zip(&mut texts).rev();
        let users = users.filter(|(message, _)| message.role == Role::User);
        for (message, text) in users.take(marks) {
            if let Some(marked) = message.marked() {
                *text = marked;
            }
        }
        texts
    }
}

impl Message {
    fn new(role: Role, content: &Value) -> Self {
        let head = match role {
            Role::User => r#"{"role":"user","content":"#,
            Role::Assistant => r#"{"role":"assistant","content":"#,
        };
        let mut writer = Writer(head.as_bytes().to_vec());
        let (content, blocks) = writer.content(content);
        writer.0.push(b'}');
        Self {
            role,
            text: JsonText::written(writer.0),
            content,
            blocks,
        }
    }

    /// Writes a message as it is, whatever other fields it has.
    fn read(message: &Value) -> Self {
        let role = match message.get("role").and_then(Value::as_str) {
            Some("assistant") => Role::Assistant,
            _ => Role::User,
        };
        let mut writer = Writer(vec![b'{']);
        let (mut content, mut blocks) = (0..0, Vec::new());
        for (at, (name, value)) in message.as_object().into_iter().flatten().enumerate() {
            if at > 0 {
                writer.0.push(b',');
            }
            writer.value(&Value::from(name.as_str()));
            writer.0.push(b':');
            if name == "content" {
                (content, blocks) = writer.content(value);
            } else {
                writer.value(value);
            }
        }
        writer.0.push(b'}');
        Self {
            role,
            text: JsonText::written(writer.0),
            content,
            blocks,
        }
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Returns the size of the message as JSON.
    pub(crate) fn size(&self) -> usize {
        self.text.as_bytes().len()
    }

    /// Returns the size of the content as JSON, if it is not made of blocks.
    pub(crate) fn string_size(&self) -> Option<usize> {
        (!self.at(&self.content).starts_with(b"[")).then_some(self.content.len())
    }

    /// Decodes the blocks; each comes with its size as JSON. There are none in a string.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (usize, Option<ContentBlock>)> {
        let decode = |span: &Span| serde_json::from_slice(self.at(span)).ok();
        self.blocks.iter().map(move |it| (it.len(), decode(it)))
    }

    fn at(&self, span: &Span) -> &[u8] {
        &self.text.as_bytes()[span.clone()]
    }

    /// Returns the message with a mark on its last block; a string becomes a block.
    fn marked(&self) -> Option<JsonText> {
        let Some(last) = self.blocks.last() else {
            return self.marked_string();
        };
        let block = marked_block(self.at(last))?;
        Some(self.with(last, &[&block]))
    }

    fn marked_string(&self) -> Option<JsonText> {
        let string = self.at(&self.content);
        if !string.starts_with(b"\"") {
            return None;
        }
        // The API refuses marks on empty texts.
        let mark: &[&[u8]] = if string == b"\"\"" {
            &[]
        } else {
            &[b",", MARK]
        };
        let mut parts: Vec<&[u8]> = vec![br#"[{"type":"text","text":"#, string];
        parts.extend(mark);
        parts.push(b"}]");
        Some(self.with(&self.content, &parts))
    }

    /// Returns the message with other text in place of a part of it.
    fn with(&self, span: &Span, parts: &[&[u8]]) -> JsonText {
        let text = self.text.as_bytes();
        let text = [&[&text[..span.start]], parts, &[&text[span.end..]]].concat();
        JsonText::written(text.concat())
    }
}

/// Returns a block with a mark, unless the API would refuse it there.
fn marked_block(block: &[u8]) -> Option<Vec<u8>> {
    let inner = block.strip_prefix(b"{")?.strip_suffix(b"}")?;
    // Only the names of the fields and short values are looked at; a large block is not copied.
    let fields: Fields<'_> = serde_json::from_slice(block).ok()?;
    if fields.kind.is_some_and(|it| it.get() == "\"thinking\"")
        || fields.text.is_some_and(|it| it.get() == "\"\"")
    {
        return None;
    }
    if fields.cache_control.is_some() {
        let mut value: Value = serde_json::from_slice(block).ok()?;
        let mark = Value::from_iter([("type", "ephemeral")]);
        value
            .as_object_mut()?
            .insert("cache_control".to_owned(), mark);
        return Some(value.to_string().into_bytes());
    }
    let comma: &[u8] = if inner.is_empty() { b"" } else { b"," };
    Some([b"{", inner, comma, MARK, b"}"].concat())
}

/// The fields of a block that decide about a mark.
#[derive(serde::Deserialize)]
struct Fields<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a serde_json::value::RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a serde_json::value::RawValue>,
    #[serde(borrow, default)]
    cache_control: Option<&'a serde_json::value::RawValue>,
}

/// JSON while it is written.
struct Writer(Vec<u8>);

impl Writer {
    fn value(&mut self, value: &Value) -> Span {
        let start = self.0.len();
        self.0.extend_from_slice(value.to_string().as_bytes());
        start..self.0.len()
    }

    /// Writes the content of a message. Returns where it is, and where its blocks are.
    fn content(&mut self, content: &Value) -> (Span, Vec<Span>) {
        let start = self.0.len();
        let Value::Array(blocks) = content else {
            return (self.value(content), Vec::new());
        };
        self.0.push(b'[');
        let mut spans = Vec::with_capacity(blocks.len());
        for (at, block) in blocks.iter().enumerate() {
            if at > 0 {
                self.0.push(b',');
            }
            spans.push(self.value(block));
        }
        self.0.push(b']');
        (start..self.0.len(), spans)
    }
}

#[cfg(test)]
mod tests;
