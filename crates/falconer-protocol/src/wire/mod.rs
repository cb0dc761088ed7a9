//! Reading and writing of wire types: in one pass, in any key order, losing nothing.
//!
//! serde's own derive either drops unknown fields or buffers whole objects (`flatten`,
//! `untagged`, internal tags), and compiles every type once for each deserializer. The macros here
//! generate readers that put known keys straight into fields, keep the rest in [`Extra`], and pick
//! an enum's variant from its tag while the object is being read. They read the text of a line
//! through [`Reader`](crate::json::Reader); anybody else's deserializer is read into a `Value`
//! first.
//!
//! Reading has two modes. Strict reading is the fast one and fails at the first value of an
//! unexpected type. Lenient reading is the second try: it works on a parsed `Value`, moves misfit
//! optional fields into [`Extra`] and turns misfit objects into the `Unknown` variant of the
//! nearest enum.

mod body;
mod entries;
mod extra;
mod field;
mod held;
mod key;
mod macros;
mod mode;
mod text;

pub(crate) use body::{Body, Tagged, read_body, read_preset, read_tagged, take_body};
pub(crate) use entries::{Entries, FieldReader};
pub use extra::Extra;
pub(crate) use field::{Wire, deserialize, misfit, plain, refusal};
pub(crate) use held::Held;
pub(crate) use macros::{
    field_type, open_enum, read_field, tagged_enum, text_newtype, text_traits, unwrap_field,
    wire_body, wire_name, wire_struct, write_field,
};
pub(crate) use mode::Mode;
pub(crate) use text::TextVisitor;

/// A JSON object that is kept as it came, in the order of its keys.
pub type Object = serde_json::Map<String, serde_json::Value>;

/// Returns `true` if a field may be left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
