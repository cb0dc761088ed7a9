//! The ways in: TLS, a Unix socket, the page.

use std::path::Path;

use falconer_server::{Error, Server, TlsFiles};
use reqwest::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::place::{LIMIT, Place, problem};

/// A certificate of nobody, for `localhost`.
fn files() -> TlsFiles {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls");
    TlsFiles {
        certificate: folder.join("cert.pem"),
        key: folder.join("key.pem"),
    }
}

#[tokio::test]
async fn with_tls_the_cookie_is_secure_and_plain_text_is_not_answered() {
    let place = Place::new();
    let server = place.serve_with(|config| config.tls = Some(files())).await;
    assert!(
        server.url.starts_with("https://127.0.0.1:"),
        "{}",
        server.url
    );
    let certificate = std::fs::read(files().certificate).unwrap();
    let certificate = reqwest::Certificate::from_pem(&certificate).unwrap();
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([certificate])
        .timeout(LIMIT)
        .build()
        .unwrap();
    let code = server.link.split_once("#code=").unwrap().1;
    let login = client.post(format!("{}/v1/login", server.url));
    let login = login
        .json(&serde_json::json!({"code": code}))
        .send()
        .await
        .unwrap();
    assert_eq!(login.status(), 204);
    let cookie = login.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("; Secure"), "{cookie}");
    let plain = format!("http://{}/health", server.address);
    assert!(
        server
            .client
            .get(plain)
            .timeout(LIMIT)
            .send()
            .await
            .is_err()
    );
    server.stop().await;

    let mut config = place.config();
    config.tls = Some(TlsFiles {
        certificate: files().key,
        key: files().certificate,
    });
    let refused = Server::bind(place.hub().await, config).await;
    assert!(matches!(refused, Err(Error::Tls { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_unix_socket_is_its_owners_and_needs_a_token_too() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let path = place.root().join("socket");
    let server = place
        .serve_with(|config| config.unix_socket = Some(path.clone()))
        .await;
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for (credential, status) in [(String::new(), "401"), (server.token.clone(), "200")] {
        let mut socket = tokio::net::UnixStream::connect(&path).await.unwrap();
        let request = format!(
            "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {credential}\r\n\
             Connection: close\r\n\r\n"
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
    }
    server.stop().await;
    assert!(!path.exists(), "it goes with the server");
}

/// All that a browser loads to show the page.
const PAGE_BYTES: usize = 150 * 1024;
const PAGE_REQUESTS: usize = 5;

#[tokio::test]
async fn the_page_is_sent_once_and_small() {
    let place = Place::new();
    let server = place.serve().await;
    let missing = server
        .bare(Method::GET, "/assets/none.js")
        .send()
        .await
        .unwrap();
    problem(missing, 404, "not_found").await;
    let get = |path: &str| {
        let request = server.bare(Method::GET, path);
        request.header("accept-encoding", "gzip")
    };
    let plain = server.bare(Method::GET, "/").send().await.unwrap();
    let html = plain.text().await.unwrap();
    let assets = html
        .split(['"', '\''])
        .filter(|it| it.starts_with("/assets/"));
    let paths: Vec<&str> = std::iter::once("/").chain(assets).collect();
    assert!((3..=PAGE_REQUESTS).contains(&paths.len()), "{paths:?}");
    let mut bytes = 0;
    for path in paths {
        let answer = get(path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.headers()["content-encoding"], "gzip", "{path}");
        let tag = answer.headers()["etag"].clone();
        let body = answer.bytes().await.unwrap();
        assert!(body.starts_with(&[0x1f, 0x8b]), "{path} is compressed");
        bytes += body.len();
        let again = get(path).header("if-none-match", tag).send().await.unwrap();
        assert_eq!(again.status(), 304, "{path}");
        assert!(again.bytes().await.unwrap().is_empty(), "{path}");
    }
    assert!(bytes < PAGE_BYTES, "{bytes} bytes");
    server.stop().await;
}
