//! The macros that declare wire types.

/// Declares a struct that is an object on the wire.
///
/// ```text
/// wire_struct! {
///     /// Documentation.
///     pub struct Name ["type" = "name"] {      // tags: written first, checked when read
///         pub needed: String,                  // must be there
///         pub maybe ? String,                  // Option; null and absent are told apart
///         pub list * Vec<String>,              // may be left out, then empty
///         pub renamed ? u64 => "wireName",
///     }
/// }
/// ```
///
/// Every struct gets `extra` for what it does not know, and `Default` so that code outside this
/// crate can write `Name { needed, ..Default::default() }`.
macro_rules! wire_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $([$($tag:literal = $value:literal),+])? {
            $($(#[$field_meta:meta])* pub $field:ident $mark:tt $ty:ty $(=> $wire:literal)?),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $crate::wire::field_type!($mark $ty),)*
            /// Fields that this version does not know, written back unchanged.
            pub extra: $crate::wire::Extra,
        }

        const _: () = {
            use $crate::wire::{Body, Entries, Extra, FieldReader};

            const NAMES: &[&str] = &[$($crate::wire::wire_name!($field $($wire)?)),*];
            const TAGS: &[(&str, &str)] = &[$($(($tag, $value)),+)?];
            const _: () = assert!(NAMES.len() <= 64, "Extra has one bit for each field");

            #[allow(non_camel_case_types, dead_code, reason = "one index for each field")]
            enum Index {
                $($field,)*
                None_,
            }

            impl $name {
                /// Has a field written as `null`, `[]` or the like while it is empty, instead of
                /// leaving it out.
                ///
                /// The field is named as on the wire. A field that is always written stays as it is.
                #[must_use]
                pub fn with_empty(mut self, field: &str) -> Self {
                    self.spell_out(field);
                    self
                }

                #[inline]
                pub(crate) fn spell_out(&mut self, field: &str) {
                    self.extra.spell_out_named(NAMES, field);
                }
            }

            impl Body for $name {
                const REREADS_TAG: bool = TAGS.is_empty();

                #[allow(unused_mut, clippy::match_single_binding, reason = "empty structs")]
                fn from_entries(entries: Entries<'_, '_, '_>) -> serde_json::Result<Self> {
                    let mut extra = Extra::default();
                    let mut reader = FieldReader::new(entries, NAMES, TAGS);
                    $(let mut $field = None;)*
                    while let Some(index) = reader.next_field(&mut extra)? {
                        match index {
                            $(at if at == Index::$field as usize => {
                                $field = $crate::wire::read_field!($mark $ty, reader, at, extra);
                            })*
                            _ => {}
                        }
                    }
                    Ok(Self {
                        $($field: $crate::wire::unwrap_field!(
                            $mark $field, $crate::wire::wire_name!($field $($wire)?)
                        ),)*
                        extra,
                    })
                }
            }

            $crate::wire::wire_body!($name);

            impl serde::Serialize for $name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    use serde::ser::SerializeMap;

                    let mut map = serializer.serialize_map(None)?;
                    for (tag, value) in TAGS {
                        map.serialize_entry(tag, value)?;
                    }
                    $($crate::wire::write_field!(
                        $mark map, self.$field, NAMES[Index::$field as usize],
                        self.extra.is_spelled_out(Index::$field as usize)
                    );)*
                    self.extra.write(&mut map)?;
                    map.end()
                }
            }
        };
    };
}

/// The Rust type of a field.
macro_rules! field_type {
    (: $ty:ty) => { $ty };
    (? $ty:ty) => { Option<$ty> };
    (* $ty:ty) => { $ty };
}

/// The name of a field on the wire.
macro_rules! wire_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $wire:literal) => {
        $wire
    };
}

/// Reads the value of a field into its slot, an `Option` of the field's type.
macro_rules! read_field {
    (: $ty:ty, $reader:ident, $at:ident, $extra:ident) => {
        Some($reader.required::<$ty>()?)
    };
    (? $ty:ty, $reader:ident, $at:ident, $extra:ident) => {
        $reader.optional::<$ty>($at, &mut $extra)?
    };
    (* $ty:ty, $reader:ident, $at:ident, $extra:ident) => {
        Some($reader.defaulted::<$ty>($at, &mut $extra)?)
    };
}

/// Takes a field out of its slot.
macro_rules! unwrap_field {
    (: $field:ident, $wire:expr) => {
        match $field {
            Some(value) => value,
            None => {
                return Err(<serde_json::Error as serde::de::Error>::missing_field(
                    $wire,
                ))
            }
        }
    };
    (? $field:ident, $wire:expr) => {
        $field
    };
    (* $field:ident, $wire:expr) => {
        $field.unwrap_or_default()
    };
}

/// Writes a field.
macro_rules! write_field {
    (: $map:ident, $value:expr, $wire:expr, $spelled_out:expr) => {
        $map.serialize_entry($wire, &$value)?;
    };
    (? $map:ident, $value:expr, $wire:expr, $spelled_out:expr) => {
        if let Some(value) = &$value {
            $map.serialize_entry($wire, value)?;
        } else if $spelled_out {
            $map.serialize_entry($wire, &())?;
        }
    };
    (* $map:ident, $value:expr, $wire:expr, $spelled_out:expr) => {
        if $spelled_out || !$crate::wire::is_default(&$value) {
            $map.serialize_entry($wire, &$value)?;
        }
    };
}

/// Declares an enum of objects told apart by one key.
///
/// Each variant holds a struct that writes the tag itself. An object with an unknown tag, or
/// none, becomes `Unknown` and is written back as it was; `untagged Variant` names the variant
/// of objects without the tag instead.
macro_rules! tagged_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $tag:literal $(untagged $untagged:ident)? {
            $($(#[$variant_meta:meta])* $variant:ident($ty:ty) = $value:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant($ty),)+
            /// An object that this version does not know, written back as it came.
            Unknown($crate::wire::Object),
        }

        impl $name {
            #[doc = concat!("Returns the value of `", $tag, "`, if it has one.")]
            pub fn tag(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(_) => Some($value),)+
                    Self::Unknown(object) => object.get($tag).and_then(|tag| tag.as_str()),
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::Unknown($crate::wire::Object::new())
            }
        }

        const _: () = {
            use $crate::wire::{Body, Entries, Object, Tagged};

            #[allow(clippy::enum_variant_names, reason = "one index for each variant")]
            enum Index {
                $($variant,)+
            }

            impl Tagged for $name {
                const TAG: &'static str = $tag;
                const VALUES: &'static [&'static str] = &[$($value),+];
                const UNTAGGED: Option<usize> = {
                    let untagged: Option<usize> = None;
                    $(let _ = untagged; let untagged = Some(Index::$untagged as usize);)?
                    untagged
                };

                #[inline]
                fn from_variant(
                    variant: usize,
                    mut entries: Entries<'_, '_, '_>,
                ) -> serde_json::Result<Self> {
                    match variant {
                        $(at if at == Index::$variant as usize => {
                            if <$ty as Body>::REREADS_TAG && Self::UNTAGGED != Some(at) {
                                entries.put_back(vec![($tag.to_owned(), $value.into())]);
                            }
                            <$ty as Body>::from_entries(entries).map(Self::$variant)
                        })+
                        _ => entries.into_object().map(Self::Unknown),
                    }
                }

                fn unknown(object: Object) -> Self {
                    Self::Unknown(object)
                }
            }

            impl Body for $name {
                const REREADS_TAG: bool = true;

                #[inline]
                fn from_entries(entries: Entries<'_, '_, '_>) -> serde_json::Result<Self> {
                    $crate::wire::read_tagged(entries)
                }
            }

            $crate::wire::wire_body!($name);

            impl serde::Serialize for $name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self {
                        $(Self::$variant(body) => body.serialize(serializer),)+
                        Self::Unknown(object) => object.serialize(serializer),
                    }
                }
            }
        };
    };
}

/// Lets a `Body` stand in a field, and be read by anybody's deserializer.
macro_rules! wire_body {
    ($name:ident) => {
        impl $crate::wire::Wire for $name {
            #[inline]
            fn read(reader: &mut $crate::json::Reader<'_>) -> serde_json::Result<Self> {
                $crate::wire::read_body(reader)
            }

            fn take(
                value: serde_json::Value,
                mode: $crate::wire::Mode,
            ) -> serde_json::Result<Self> {
                $crate::wire::take_body(value, mode)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::deserialize(deserializer)
            }
        }
    };
}

/// Declares an enum of strings to which an engine may add.
///
/// The first value is the default.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(#[$first_meta:meta])* $first:ident = $first_value:literal
            $(, $(#[$variant_meta:meta])* $variant:ident = $value:literal)* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(#[$first_meta])*
            #[doc = concat!("\n\nOn the wire: `", $first_value, "`.")]
            #[default]
            $first,
            $(
                $(#[$variant_meta])*
                #[doc = concat!("\n\nOn the wire: `", $value, "`.")]
                $variant,
            )*
            /// A value that this version does not know, written back unchanged.
            Other(String),
        }

        impl $name {
            /// The values this version knows.
            pub const KNOWN: &'static [Self] = &[Self::$first, $(Self::$variant),*];

            /// Returns the string on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    Self::$first => $first_value,
                    $(Self::$variant => $value,)*
                    Self::Other(value) => value,
                }
            }

            fn known(value: &str) -> Option<Self> {
                match value {
                    $first_value => Some(Self::$first),
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl From<&str> for $name {
            fn from(value: &str) -> Self {
                Self::known(value).unwrap_or_else(|| Self::Other(value.to_owned()))
            }
        }

        impl From<String> for $name {
            fn from(value: String) -> Self {
                Self::known(&value).unwrap_or(Self::Other(value))
            }
        }

        $crate::wire::text_traits!($name);
    };
}

/// Declares a string that has a meaning of its own.
macro_rules! text_newtype {
    ($($(#[$meta:meta])* pub struct $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Wraps any string; nothing is checked.
            pub fn new(value: impl Into<String>) -> Self {
                Self(value.into())
            }

            /// Returns the string on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns the string on the wire.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl From<&str> for $name {
            fn from(value: &str) -> Self {
                Self(value.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(value: String) -> Self {
                Self(value)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        $crate::wire::text_traits!($name);
    )+};
}

/// Implements the traits of string-like types.
macro_rules! text_traits {
    ($name:ident) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::wire::TextVisitor::new())
            }
        }

        $crate::wire::plain!($name);
    };
}

pub(crate) use {
    field_type, open_enum, read_field, tagged_enum, text_newtype, text_traits, unwrap_field,
    wire_body, wire_name, wire_struct, write_field,
};
