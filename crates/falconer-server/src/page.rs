//! The page: the files of `page/`, inside the executable (from disk in debug builds).

mod built;
mod join;

use std::sync::Arc;

use axum::extract::{Path, RawQuery};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::problem::Problem;
use built::{Built, Part};
use join::JoinError;

#[derive(RustEmbed)]
#[folder = "page/"]
struct Files;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// The page itself.
pub(crate) async fn index(headers: HeaderMap) -> Response {
    let kind = "text/html; charset=utf-8";
    part(
        Built::begun(),
        |built| &built.index,
        kind,
        Keep::Ask,
        &headers,
    )
}

/// What belongs to it.
pub(crate) async fn asset(
    Path(path): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    let keep = Keep::Version(query.strip_prefix("v=").unwrap_or_default());
    match path.as_str() {
        "page.js" => part(
            Built::known(),
            |built| &built.script,
            SCRIPT,
            keep,
            &headers,
        ),
        "page.css" => part(Built::known(), |built| &built.style, STYLE, keep, &headers),
        path => file(path, &headers),
    }
}

/// How long a browser may use what it has without asking.
#[derive(Debug, Clone, Copy)]
enum Keep<'a> {
    /// Not at all.
    Ask,
    /// For ever, if this is the version that is sent.
    Version(&'a str),
}

fn part(
    built: Result<Arc<Built>, JoinError>,
    choose: impl Fn(&Built) -> &Part,
    kind: &str,
    keep: Keep<'_>,
    headers: &HeaderMap,
) -> Response {
    let built = match built {
        Ok(built) => built,
        Err(error) => return Problem::internal("put the page together", error).into_response(),
    };
    let part = choose(&built);
    let control = match keep {
        Keep::Version(asked) if asked == part.version => "public, max-age=31536000, immutable",
        Keep::Version(_) | Keep::Ask => "no-cache",
    };
    send(headers, &part.version, control, kind, || {
        part.text.clone().into_bytes()
    })
}

fn file(path: &str, headers: &HeaderMap) -> Response {
    let is_plain = !path
        .split('/')
        .any(|part| part.is_empty() || part.starts_with('.'));
    let Some(file) = is_plain.then(|| Files::get(path)).flatten() else {
        return Problem::not_found("file", path).into_response();
    };
    let hash = blake3::Hash::from(file.metadata.sha256_hash()).to_hex();
    let kind = if path.ends_with(".js") {
        SCRIPT.to_owned()
    } else {
        match file.metadata.mimetype() {
            text if text.starts_with("text/") => format!("{text}; charset=utf-8"),
            other => other.to_owned(),
        }
    };
    send(headers, &hash[..32], "no-cache", &kind, || {
        file.data.into_owned()
    })
}

/// Sends something, unless the browser has it already.
fn send(
    headers: &HeaderMap,
    version: &str,
    control: &str,
    kind: &str,
    data: impl FnOnce() -> Vec<u8>,
) -> Response {
    let tag = format!("\"{version}\"");
    let known = headers.get_all(header::IF_NONE_MATCH).iter();
    let is_known = known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|value| value.trim().trim_start_matches("W/") == tag);
    let about = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, control.to_owned()),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    (about, [(header::CONTENT_TYPE, kind.to_owned())], data()).into_response()
}
