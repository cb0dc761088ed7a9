//! Files that go with messages.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use falconer_event::Image;
use falconer_store::{BlobId, NewBlob};

use crate::api::StoredFile;
use crate::app::App;
use crate::guard::content::NAME_HEADER;
use crate::input;
use crate::problem::{Code, Problem};

const LONGEST_NAME: usize = 255;

/// Store a file, to send it with a message
#[utoipa::path(post, path = "/v1/attachments", tag = "attachments",
    params(("X-Falconer-Name" = String, Header, description = "The file's name, percent-encoded")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 201, description = "The file", body = StoredFile)))]
pub(crate) async fn store_attachment(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<(StatusCode, axum::Json<StoredFile>), Problem> {
    let name = name(request.headers())?;
    let kind = media_type(request.headers());
    let most = app
        .config
        .caps
        .attachment
        .min(falconer_store::MAX_BLOB_BYTES);
    let bytes = input::read(request, &app, most).await?;
    if bytes.is_empty() {
        return Err(Problem::new(Code::InvalidValue, "the file is empty"));
    }
    let blob = NewBlob::new(kind, bytes.to_vec()).name(name);
    let record = app.store.put_blob(blob).await?;
    Ok((StatusCode::CREATED, axum::Json(record.into())))
}

fn name(headers: &HeaderMap) -> Result<String, Problem> {
    let wrong = || {
        let text = "X-Falconer-Name is a file name of 1 to 255 bytes, percent-encoded";
        Problem::new(Code::InvalidValue, text)
    };
    let given = headers.get(NAME_HEADER).and_then(|name| name.to_str().ok());
    let name = percent_decoded(given.ok_or_else(wrong)?).ok_or_else(wrong)?;
    let is_plain = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.contains(['/', '\\'])
        && !name.chars().any(char::is_control)
        && name != "."
        && name != "..";
    if is_plain { Ok(name) } else { Err(wrong()) }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

fn media_type(headers: &HeaderMap) -> String {
    let given = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let essence = given
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.+-".contains(&byte);
    if essence.contains('/') && essence.len() < 100 && essence.bytes().all(is_plain) {
        essence.to_ascii_lowercase()
    } else {
        "application/octet-stream".to_owned()
    }
}

/// A stored file; pictures can be shown, everything else is saved
#[utoipa::path(get, path = "/v1/attachments/{id}", tag = "attachments",
    params(("id" = String, Path, description = "The file")),
    responses((status = 200, description = "Its bytes", body = Vec<u8>, content_type = "application/octet-stream")))]
pub(crate) async fn get_attachment(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let record = app.store.blob(&BlobId::from(id)).await?;
    let bytes = app.store.blob_bytes(&record.hash).await?;
    // Anything else could be a page that runs with the server's name.
    let is_shown = Image::MEDIA_TYPES.contains(&record.media_type.as_str());
    let kind = if is_shown {
        record.media_type.as_str()
    } else {
        "application/octet-stream"
    };
    let place = if is_shown { "inline" } else { "attachment" };
    let kind = HeaderValue::from_str(kind);
    let headers = [
        (
            header::CONTENT_TYPE,
            kind.unwrap_or(HeaderValue::from_static("application/octet-stream")),
        ),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(place)),
        (
            HeaderName::from_static("content-security-policy"),
            HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox"),
        ),
        (
            header::CACHE_CONTROL,
            HeaderValue::from_static("private, max-age=3600, immutable"),
        ),
    ];
    Ok((headers, bytes).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_and_not_paths() {
        for (given, expected) in [
            ("a.txt", Some("a.txt")),
            ("a%20b.txt", Some("a b.txt")),
            ("%C3%A9", Some("é")),
            ("", None),
            ("..", None),
            ("../x", None),
            ("a%2Fb", None),
            ("a%5Cb", None),
            ("a%00b", None),
            ("a%0Ab", None),
            ("%", None),
            ("%zz", None),
            ("%ff", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(NAME_HEADER, given.parse().unwrap());
            assert_eq!(name(&headers).ok().as_deref(), expected, "{given:?}");
        }
    }
}
