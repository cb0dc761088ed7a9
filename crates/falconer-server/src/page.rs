//! The page: the files of `page/`, inside the executable (from disk in debug builds).

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::problem::Problem;

#[derive(RustEmbed)]
#[folder = "page/"]
struct Files;

/// The page itself.
pub(crate) async fn index(headers: HeaderMap) -> Response {
    file("index.html", &headers)
}

/// What belongs to it.
pub(crate) async fn asset(Path(path): Path<String>, headers: HeaderMap) -> Response {
    file(&path, &headers)
}

fn file(path: &str, headers: &HeaderMap) -> Response {
    let is_plain = !path
        .split('/')
        .any(|part| part.is_empty() || part.starts_with('.'));
    let Some(file) = is_plain.then(|| Files::get(path)).flatten() else {
        return Problem::not_found("file", path).into_response();
    };
    let hash = blake3::Hash::from(file.metadata.sha256_hash()).to_hex();
    let tag = format!("\"{}\"", &hash[..32]);
    let known = headers.get_all(header::IF_NONE_MATCH).iter();
    let is_known = known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|value| value.trim().trim_start_matches("W/") == tag);
    let about = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    let kind = match path.ends_with(".js") || path.ends_with(".mjs") {
        true => "text/javascript; charset=utf-8".to_owned(),
        false => match file.metadata.mimetype() {
            text if text.starts_with("text/") => format!("{text}; charset=utf-8"),
            other => other.to_owned(),
        },
    };
    (
        about,
        [(header::CONTENT_TYPE, kind)],
        file.data.into_owned(),
    )
        .into_response()
}
