//! Images, made small enough for the API.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use falconer_protocol::content::{ContentBlock, ImageBlock};
use falconer_protocol::tool::ReadFile;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use serde::Serialize;

use super::{Failure, Outcome, Source, output};

/// Files above this are not even looked at.
const FILE: u64 = 50 << 20;
/// The API takes 5 MB of base64.
const BYTES: usize = 3_750_000;
/// Longer sides cost more and show no more.
const SIDE: u32 = 2_000;
/// Memory for the pixels of one image.
const PIXELS: u64 = 512 << 20;

/// What the API understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Png,
    Jpeg,
    Gif,
    WebP,
}

impl Format {
    /// The format by the first bytes, whatever the name of the file says.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        match infer::get(head)?.mime_type() {
            "image/png" => Some(Self::Png),
            "image/jpeg" => Some(Self::Jpeg),
            "image/gif" => Some(Self::Gif),
            "image/webp" => Some(Self::WebP),
            _ => None,
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }

    fn codec(self) -> ImageFormat {
        match self {
            Self::Png => ImageFormat::Png,
            Self::Jpeg => ImageFormat::Jpeg,
            Self::Gif => ImageFormat::Gif,
            Self::WebP => ImageFormat::WebP,
        }
    }
}

/// An image as it goes to the API.
struct Fitted {
    bytes: Vec<u8>,
    format: Format,
    width: u32,
    height: u32,
}

pub(super) fn read(source: &Source<'_>, format: Format) -> Result<Outcome, Failure> {
    let bytes = source.bytes(FILE)?;
    let size = bytes.len();
    let broken = |error: image::ImageError| {
        Failure::failed(format!(
            "Failed to read the image {}: {error}",
            source.path.display()
        ))
    };
    let (width, height) = ImageReader::with_format(Cursor::new(&bytes), format.codec())
        .into_dimensions()
        .map_err(broken)?;
    let fitted = fit(bytes, format, (width, height)).map_err(broken)?;
    let data = STANDARD.encode(&fitted.bytes);
    let media_type = fitted.format.media_type();
    let image = ImageBlock::base64(media_type, data.as_str());
    let mut content = vec![ContentBlock::Image(Box::new(image))];
    if (fitted.width, fitted.height) != (width, height) {
        let factor = f64::from(width) / f64::from(fitted.width);
        content.push(ContentBlock::text(format!(
            "[The image has {width}x{height} pixels and is shown with {}x{}; multiply \
             coordinates by {factor:.2} to get those of the file.]",
            fitted.width, fitted.height
        )));
    }
    let dimensions = Dimensions {
        original_width: width,
        original_height: height,
        display_width: fitted.width,
        display_height: fitted.height,
    };
    let file = ReadFile {
        base64: Some(data),
        media_type: Some(media_type.to_owned()),
        original_size: Some(size as u64),
        dimensions: serde_json::to_value(dimensions).ok(),
        ..ReadFile::default()
    };
    Ok(Outcome::blocks(content, output("image", file)))
}

/// The size of an image, and of what is shown of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Dimensions {
    original_width: u32,
    original_height: u32,
    display_width: u32,
    display_height: u32,
}

fn fit(bytes: Vec<u8>, format: Format, (width, height): (u32, u32)) -> image::ImageResult<Fitted> {
    if width <= SIDE && height <= SIDE && bytes.len() <= BYTES {
        return Ok(Fitted {
            bytes,
            format,
            width,
            height,
        });
    }
    let mut reader = ImageReader::with_format(Cursor::new(&bytes), format.codec());
    let mut limits = Limits::default();
    limits.max_alloc = Some(PIXELS);
    reader.limits(limits);
    let mut picture = reader.decode()?;
    if width > SIDE || height > SIDE {
        picture = picture.resize(SIDE, SIDE, FilterType::Triangle);
    }
    if matches!(format, Format::Png | Format::Gif | Format::WebP) {
        let bytes = png(&picture)?;
        if bytes.len() <= BYTES {
            return Ok(fitted(bytes, Format::Png, &picture));
        }
    }
    loop {
        for quality in [85, 60, 35] {
            let bytes = jpeg(&picture, quality)?;
            if bytes.len() <= BYTES || picture.width().max(picture.height()) < 64 {
                return Ok(fitted(bytes, Format::Jpeg, &picture));
            }
        }
        let half = picture.width().max(picture.height()) / 2;
        picture = picture.resize(half, half, FilterType::Triangle);
    }
}

fn fitted(bytes: Vec<u8>, format: Format, picture: &DynamicImage) -> Fitted {
    Fitted {
        bytes,
        format,
        width: picture.width(),
        height: picture.height(),
    }
}

fn png(picture: &DynamicImage) -> image::ImageResult<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png)?;
    Ok(bytes.into_inner())
}

fn jpeg(picture: &DynamicImage, quality: u8) -> image::ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    picture
        .to_rgb8()
        .write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality))?;
    Ok(bytes)
}
