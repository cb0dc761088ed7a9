//! Images that tools return: what an event says of them, and what may be shown at all.
//!
//! What a tool returns is hostile. Of an image only the four kinds every browser draws are taken,
//! by what their bytes are and not by what they are called; everything else is a note in the text.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most images one result has.
const MOST: usize = 16;
/// The most bytes all images of one result have.
const MOST_BYTES: usize = 16 << 20;

/// Accepts base64 with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// An image that a tool returned.
///
/// Its bytes are never part of an event's JSON: the process that runs the session has them in
/// `data`, and a store keeps them as an attachment, which `id` names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`: what its bytes are.
    pub media_type: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Id of the attachment that holds its bytes; absent if nobody keeps them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The bytes, for whoever runs the session; gone once the event was written and read back.
    #[serde(skip)]
    pub data: Option<ImageData>,
}

impl Image {
    /// The most bytes an image has.
    pub const LARGEST: usize = 8 << 20;
    /// Media types that are taken for images.
    pub const MEDIA_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

    /// Returns the media type of the bytes, judged by their beginning.
    pub fn media_type_of(data: &[u8]) -> Option<&'static str> {
        let [png, jpeg, gif, webp] = Self::MEDIA_TYPES;
        match data {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(png),
            [0xff, 0xd8, 0xff, ..] => Some(jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(gif),
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => Some(webp),
            _ => None,
        }
    }

    /// An image, if the bytes are one of a kind that may be shown.
    pub fn new(data: Vec<u8>) -> Option<Self> {
        let media_type = Self::media_type_of(&data)?;
        (data.len() <= Self::LARGEST).then(|| Self {
            media_type: media_type.to_owned(),
            bytes: data.len() as u64,
            id: None,
            data: Some(ImageData(data.into())),
        })
    }
}

/// The bytes of an image. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct ImageData(Arc<[u8]>);

impl std::ops::Deref for ImageData {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for ImageData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImageData({} bytes)", self.0.len())
    }
}

/// Takes the images out of one result.
#[derive(Debug, Default)]
pub(crate) struct Images {
    pub(crate) taken: Vec<Image>,
    bytes: usize,
}

/// The reason an image is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// It is only named: by an address, or the id of a file.
    Elsewhere,
    NotAnImage,
    Broken,
    TooLarge,
    TooMany,
}

impl Images {
    /// Takes the image of a block; what people read in its place.
    pub(crate) fn take(&mut self, block: &Value) -> String {
        let source = &block["source"];
        let base64 = source["data"].as_str();
        let size = base64.map_or(0, decoded_size);
        match self.read(source["media_type"].as_str(), base64) {
            Ok(image) => {
                let note = format!("[image, {}]", readable(image.bytes));
                self.bytes += size;
                self.taken.push(image);
                note
            }
            Err(Refused::Elsewhere) => "[image]".to_owned(),
            Err(refused) => format!("[image, {}, {refused}]", readable(size as u64)),
        }
    }

    fn read(&self, named: Option<&str>, base64: Option<&str>) -> Result<Image, Refused> {
        let base64 = base64.ok_or(Refused::Elsewhere)?;
        if !named.is_some_and(|named| Image::MEDIA_TYPES.contains(&named)) {
            return Err(Refused::NotAnImage);
        }
        // Before anything is made of it.
        let size = decoded_size(base64);
        if size > Image::LARGEST {
            return Err(Refused::TooLarge);
        }
        if self.taken.len() >= MOST || self.bytes + size > MOST_BYTES {
            return Err(Refused::TooMany);
        }
        let data = BASE64.decode(base64).map_err(|_| Refused::Broken)?;
        Image::new(data).ok_or(Refused::NotAnImage)
    }
}

fn decoded_size(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elsewhere => "not here",
            Self::NotAnImage => "not shown: no PNG, JPEG, GIF or WebP",
            Self::Broken => "not shown: its base64 is broken",
            Self::TooLarge => "not shown: larger than 8 MB",
            Self::TooMany => "not shown: too many in one result",
        })
    }
}

/// A size for people.
fn readable(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KB", bytes.div_ceil(1024)),
        _ => format!("{}.{} MB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20),
    }
}

#[cfg(test)]
mod tests;
