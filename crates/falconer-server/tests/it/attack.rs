//! What a hostile page, peer or file tries.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::place::{LIMIT, Place, Running, problem};

/// Sends bytes as they are and reads what comes back.
async fn raw(server: &Running, request: String) -> String {
    let address = server.address;
    tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn a_page_of_another_origin_gets_nothing() {
    let place = Place::new();
    let server = place.serve().await;
    let cookie = server.cookie().await;
    let port = server.address.port();
    let others = [
        "https://evil.example".to_owned(),
        "null".to_owned(),
        "http://localhost:3000".to_owned(),
        format!("http://evil.localhost:{port}"),
        format!("https://127.0.0.1:{port}"),
    ];
    for origin in others {
        for (method, path) in [
            (Method::POST, "/v1/sessions"),
            (Method::POST, "/v1/tokens"),
            (Method::DELETE, "/v1/tokens/x"),
            (Method::GET, "/v1/sessions"),
        ] {
            let request = server.bare(method, path).header("cookie", &cookie);
            let request = request.header("origin", &origin).json(&json!({}));
            problem(request.send().await.unwrap(), 403, "origin_not_allowed").await;
        }
    }
    for site in ["cross-site", "same-site", "none"] {
        let request = server
            .bare(Method::POST, "/v1/logout")
            .header("cookie", &cookie);
        let request = request.header("sec-fetch-site", site);
        problem(request.send().await.unwrap(), 403, "origin_not_allowed").await;
    }
    let bare = server
        .bare(Method::POST, "/v1/logout")
        .header("cookie", &cookie);
    problem(bare.send().await.unwrap(), 403, "origin_not_allowed").await;
    // No header of ours invites another page.
    let preflight = server.bare(Method::OPTIONS, "/v1/sessions");
    let preflight = preflight.header("origin", "https://evil.example");
    let preflight = preflight.header("access-control-request-method", "POST");
    let preflight = preflight.send().await.unwrap();
    assert!(!preflight.status().is_success());
    let headers = preflight.headers().keys().map(|name| name.as_str());
    assert_eq!(
        headers
            .filter(|name| name.starts_with("access-control"))
            .count(),
        0
    );

    let own = server
        .bare(Method::GET, "/v1/sessions")
        .header("cookie", &cookie);
    assert_eq!(
        own.header("origin", &server.url)
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    server.stop().await;
}

#[tokio::test]
async fn a_name_that_points_here_is_not_ours() {
    let place = Place::new();
    let server = place.serve().await;
    let port = server.address.port();
    for (host, status) in [
        (format!("Host: evil.example:{port}\r\n"), "421"),
        ("Host: evil.example\r\n".to_owned(), "421"),
        (
            format!("Host: 127.0.0.1:{}\r\n", port.wrapping_add(1)),
            "421",
        ),
        (
            format!("Host: localhost:{port}\r\nHost: evil.example\r\n"),
            "421",
        ),
        (String::new(), "421"),
        (format!("Host: localhost:{port}\r\n"), "200"),
        (format!("Host: 127.0.0.1:{port}\r\n"), "200"),
    ] {
        for path in ["/health", "/v1/me", "/"] {
            let request = format!(
                "GET {path} HTTP/1.1\r\n{host}Authorization: Bearer {}\r\nConnection: close\r\n\r\n",
                server.token
            );
            let answer = raw(&server, request).await;
            let is_as_expected = answer.starts_with(&format!("HTTP/1.1 {status}"))
                // The page may not be built in; its name was accepted then.
                || (path == "/" && status == "200" && answer.starts_with("HTTP/1.1 404"));
            assert!(is_as_expected, "{host:?} {path}: {answer}");
        }
    }
    let upgrade = format!(
        "GET /v1/ws HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer {}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        server.token
    );
    // The connection stays open for another request; the end of it is not waited for.
    let upgrade = upgrade.replace("Connection: Upgrade", "Connection: Upgrade, close");
    assert!(raw(&server, upgrade).await.starts_with("HTTP/1.1 421"));
    server.stop().await;
}

#[tokio::test]
async fn a_form_cannot_change_anything() {
    let place = Place::new();
    let server = place.serve().await;
    let body = json!({"cwd": place.work(), "engine": "script"}).to_string();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
    ] {
        let request = server
            .ask(Method::POST, "/v1/sessions")
            .header("content-type", kind);
        let answer = request.body(body.clone()).send().await.unwrap();
        problem(answer, 415, "unsupported_media_type").await;
    }
    let untyped = server.ask(Method::POST, "/v1/sessions").body(body);
    problem(untyped.send().await.unwrap(), 415, "unsupported_media_type").await;
    let unnamed = server
        .ask(Method::POST, "/v1/attachments")
        .header("content-type", "text/plain");
    problem(
        unnamed.body("x").send().await.unwrap(),
        415,
        "unsupported_media_type",
    )
    .await;
    assert_eq!(server.get("/v1/sessions").await["sessions"], json!([]));
    server.stop().await;
}

#[tokio::test]
async fn a_socket_needs_the_cookie_and_the_own_page() {
    let place = Place::new();
    let server = place.serve().await;
    let cookie = server.cookie().await;
    let url = format!("ws://{}/v1/ws", server.address);
    let own = server.url.clone();
    for (headers, status) in [
        (vec![], Some(401)),
        (vec![("origin", "https://evil.example")], Some(403)),
        (vec![("origin", own.as_str())], Some(401)),
        (
            vec![("origin", "https://evil.example"), ("cookie", &cookie)],
            Some(403),
        ),
        (vec![("cookie", &cookie)], Some(403)),
        (vec![("origin", own.as_str()), ("cookie", &cookie)], None),
    ] {
        let mut request = url.as_str().into_client_request().unwrap();
        for (name, value) in &headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match (tokio_tungstenite::connect_async(request).await, status) {
            (Ok(_), None) => {}
            (Err(tungstenite::Error::Http(answer)), Some(status)) => {
                assert_eq!(answer.status(), status, "{headers:?}");
            }
            (other, _) => panic!("{headers:?}: {other:?}"),
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn no_answer_can_be_framed_guessed_or_run() {
    let place = Place::new();
    let server = place.serve().await;
    for path in [
        "/",
        "/health",
        "/v1/me",
        "/nothing",
        "/openapi.json",
        "/assets/nothing.js",
    ] {
        for request in [
            server.ask(Method::GET, path),
            server.bare(Method::GET, path),
        ] {
            let answer = request.send().await.unwrap();
            let header = |name: &str| {
                let value = answer.headers().get(name);
                value
                    .unwrap_or_else(|| panic!("{name} at {path}"))
                    .to_str()
                    .unwrap()
            };
            let policy = header("content-security-policy");
            for part in [
                "default-src 'none'",
                "frame-ancestors 'none'",
                "base-uri 'none'",
            ] {
                assert!(policy.contains(part), "{policy}");
            }
            assert!(!policy.contains("unsafe"), "{policy}");
            assert_eq!(header("x-frame-options"), "DENY");
            assert_eq!(header("x-content-type-options"), "nosniff");
            assert_eq!(header("referrer-policy"), "no-referrer");
            assert_eq!(header("cross-origin-opener-policy"), "same-origin");
            assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_file_is_never_a_page_of_ours() {
    let place = Place::new();
    let server = place.serve().await;
    for (kind, shown) in [
        ("text/html", false),
        ("image/svg+xml", false),
        ("image/png", true),
    ] {
        let request = server
            .ask(Method::POST, "/v1/attachments")
            .header("content-type", kind);
        let request = request.header("x-falconer-name", "a%20page.html");
        let stored = request
            .body("<script>alert(1)</script>")
            .send()
            .await
            .unwrap();
        assert_eq!(stored.status(), 201);
        let stored: serde_json::Value = stored.json().await.unwrap();
        assert_eq!(stored["name"], "a page.html");
        let path = format!("/v1/attachments/{}", stored["id"].as_str().unwrap());
        let file = server.ask(Method::GET, &path).send().await.unwrap();
        let header = |name: &str| file.headers()[name].to_str().unwrap().to_owned();
        let expected = if shown {
            (kind, "inline")
        } else {
            ("application/octet-stream", "attachment")
        };
        assert_eq!(header("content-type"), expected.0);
        assert_eq!(header("content-disposition"), expected.1);
        assert!(header("content-security-policy").contains("sandbox"));
        assert_eq!(file.text().await.unwrap(), "<script>alert(1)</script>");
    }
    server.stop().await;
}

#[tokio::test]
async fn scripts_in_what_an_agent_says_do_not_run() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    server.send(&session, "be hostile").await;
    server.turns(&session, 1).await;
    let log = server.log(&session).await;
    let said = log.iter().filter_map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let content = &event["data"]["content"];
        let is_said = event["type"] == "item.completed" && content["type"] == "message";
        is_said.then(|| content["text"].as_str().unwrap().to_owned())
    });
    let said: Vec<String> = said.collect();
    assert!(
        said[0].contains("<script>"),
        "the log keeps what was said: {said:?}"
    );
    let rendered = server.post("/v1/render", json!({"texts": said})).await;
    let html = rendered["html"][0].as_str().unwrap();
    assert!(
        !html.contains("<script") && !html.contains("<img"),
        "{html}"
    );
    let many = json!({"texts": vec!["x"; 100]});
    let many = server
        .ask(Method::POST, "/v1/render")
        .json(&many)
        .send()
        .await
        .unwrap();
    problem(many, 413, "too_large").await;
    server.stop().await;
}

#[tokio::test]
async fn nothing_outside_the_roots_is_read_or_worked_in() {
    let place = Place::new();
    symlink("/etc", place.work().join("etc")).unwrap();
    symlink(place.root(), place.work().join("up")).unwrap();
    std::fs::create_dir(place.work().join("inside")).unwrap();
    let server = place.serve().await;
    let work = place.work();
    let work = work.to_str().unwrap();
    for path in [
        "/etc".to_owned(),
        "/".to_owned(),
        format!("{work}/.."),
        format!("{work}/../home"),
        format!("{work}/etc"),
        format!("{work}/up/home"),
        format!("{work}/inside/../../home"),
        format!("{work}/%2e%2e"),
    ] {
        let query = [("path", path.as_str())];
        let url = reqwest::Url::parse_with_params("http://x/v1/folders", query).unwrap();
        let folders = format!("/v1/folders?{}", url.query().unwrap());
        let refused = server.ask(Method::GET, &folders).send().await.unwrap();
        problem(refused, 403, "outside_roots").await;
        let create = json!({"cwd": path, "engine": "script"});
        let refused = server
            .ask(Method::POST, "/v1/sessions")
            .json(&create)
            .send()
            .await
            .unwrap();
        problem(refused, 403, "outside_roots").await;
    }
    let relative = json!({"cwd": "work", "engine": "script"});
    let refused = server
        .ask(Method::POST, "/v1/sessions")
        .json(&relative)
        .send()
        .await
        .unwrap();
    problem(refused, 422, "invalid_value").await;
    let listed = server.get(&format!("/v1/folders?path={work}")).await;
    assert_eq!(
        listed["folders"],
        json!([{"name": "inside", "path": format!("{work}/inside")}])
    );
    let roots = server.get("/v1/folders").await;
    assert_eq!(roots["folders"][0]["path"], work);
    for path in [
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/Cargo.toml",
        "/assets//etc/passwd",
    ] {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            server.address
        );
        let answer = raw(&server, request).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn too_much_is_refused_before_it_is_read() {
    let place = Place::new();
    let server = place
        .serve_with(|config| {
            config.caps.body = 10_000;
            config.caps.attachment = 20_000;
        })
        .await;
    let text = "x".repeat(11_000);
    let body = json!({"texts": [text]});
    let large = server
        .ask(Method::POST, "/v1/render")
        .json(&body)
        .send()
        .await
        .unwrap();
    problem(large, 413, "too_large").await;
    // Without a length that could be believed: not even looked at.
    let chunks = (0..4).map(|_| Ok::<_, std::io::Error>(vec![b' '; 6000]));
    let chunks = futures_util::stream::iter(chunks);
    let request = server
        .ask(Method::POST, "/v1/render")
        .header("content-type", "application/json");
    let request = request.body(reqwest::Body::wrap_stream(chunks));
    problem(request.send().await.unwrap(), 400, "invalid_json").await;
    let request = server
        .ask(Method::POST, "/v1/attachments")
        .header("x-falconer-name", "a");
    let file = request.body(vec![0; 21_000]).send().await.unwrap();
    problem(file, 413, "too_large").await;
    let header = server
        .ask(Method::GET, "/v1/me")
        .header("x-long", "y".repeat(64 << 10));
    match header.send().await {
        Ok(answer) => assert_eq!(answer.status(), 431),
        // Hung up on in the middle of the header.
        Err(error) => assert!(error.is_request(), "{error}"),
    }
    server.get("/v1/me").await;
    server.stop().await;
}

#[tokio::test]
async fn who_sends_slowly_is_hung_up_on() {
    let place = Place::new();
    let server = place
        .serve_with(|config| {
            config.caps.header_time = Duration::from_millis(300);
            config.caps.body_time = Duration::from_millis(300);
        })
        .await;
    // Headers that never end: the server closes, which ends the reading.
    let answer = raw(
        &server,
        "GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: ".to_owned(),
    )
    .await;
    assert!(!answer.contains("200 OK"), "{answer}");
    // A body that never comes.
    let request = format!(
        "POST /v1/render HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        server.address, server.token
    );
    let answer = raw(&server, request).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    // Many who never say anything do not keep others away.
    let address = server.address;
    let idle: Vec<TcpStream> = (0..50)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    server.get("/v1/me").await;
    drop(idle);
    server.stop().await;
}

#[tokio::test]
async fn streams_are_counted() {
    let place = Place::new();
    let server = place.serve_with(|config| config.caps.streams = 2).await;
    let session = server.session().await;
    let path = format!("{session}/stream");
    let first = server.ask(Method::GET, &path).send().await.unwrap();
    let second = server.ask(Method::GET, "/v1/stream").send().await.unwrap();
    assert_eq!(
        (first.status().as_u16(), second.status().as_u16()),
        (200, 200)
    );
    let third = server.ask(Method::GET, &path).send().await.unwrap();
    problem(third, 503, "too_many_streams").await;
    drop(first);
    drop(second);
    // Room is there again as soon as the server saw them go.
    tokio::time::timeout(LIMIT, async {
        loop {
            let again = server.ask(Method::GET, &path).send().await.unwrap();
            if again.status() == 200 {
                return;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    server.stop().await;
}

#[tokio::test]
async fn a_token_in_a_url_is_not_looked_at() {
    let place = Place::new();
    let server = place.serve().await;
    let token = &server.token;
    for name in ["token", "access_token", "auth_token", "authorization"] {
        let path = format!("/v1/me?{name}={token}");
        let answer = server.bare(Method::GET, &path).send().await.unwrap();
        problem(answer, 401, "unauthenticated").await;
    }
    let link = reqwest::Url::parse(&server.link).unwrap();
    assert_eq!((link.path(), link.query()), ("/", None));
    assert!(link.fragment().unwrap().starts_with("code="));
    server.stop().await;
}

#[tokio::test]
async fn bypass_mode_is_refused_unless_the_server_was_started_with_it() {
    let place = Place::new();
    let server = place.serve().await;
    let asked = json!({"cwd": place.work(), "engine": "script", "mode": "bypassPermissions"});
    let refused = server
        .ask(Method::POST, "/v1/sessions")
        .json(&asked)
        .send()
        .await
        .unwrap();
    problem(refused, 403, "bypass_not_allowed").await;
    let session = server.session().await;
    let change = server
        .ask(Method::PATCH, &session)
        .json(&json!({"mode": "bypassPermissions"}));
    problem(change.send().await.unwrap(), 403, "bypass_not_allowed").await;
    let unknown = server
        .ask(Method::PATCH, &session)
        .json(&json!({"mode": "yolo"}));
    problem(unknown.send().await.unwrap(), 422, "invalid_value").await;
    server.stop().await;
}

/// Values no route expects.
fn nonsense() -> Vec<String> {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let texts = [
        "",
        "null",
        "0",
        "[]",
        "{}",
        "\"\"",
        "{",
        "{\"\":",
        "\u{0}",
        "{\"text\":null}",
        "1e999",
        "{\"cwd\":1}",
        "{\"client_msg_id\":[],\"text\":{}}",
        "{\"digest\":0,\"verdict\":{\"type\":7}}",
        "{\"texts\":[1]}",
        "{\"name\":\"x\",\"scopes\":[\"everything\"]}",
        "{\"code\":\"\\ud800\"}",
        "{\"mode\":\"\\u0000\",\"title\":\"\\u0000\"}",
        "{\"effect\":\"allow\",\"text\":\"Bash(((\",\"scope\":{}}",
        "{\"tool\":\"Bash\",\"input\":{\"command\":\"$(((\"},\"rule\":\"((\"}",
    ];
    let mut all: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    all.push(deep);
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_nonsense_makes_a_route_fail_or_answer_in_another_form() {
    let place = Place::new();
    let server = place.serve().await;
    let document = server.get("/openapi.json").await;
    for (path, item) in document["paths"].as_object().unwrap() {
        // Going out would end the test, and a socket is no call.
        if ["/v1/logout", "/v1/ws", "/v1/stream"].contains(&path.as_str()) {
            continue;
        }
        for method in item.as_object().unwrap().keys() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            for id in ["nothing", "%00", "%2e%2e%2f", "%F0%9F%A6%85", "'%22--"] {
                let path = path
                    .replace("{id}", id)
                    .replace("{message}", id)
                    .replace("{task}", id);
                let query = "?limit=-1&after=x&state=%00&cursor=%ff&archived=2&format=exe&path=%00";
                for path in [path.clone(), format!("{path}{query}")] {
                    let answer = server
                        .ask(method.clone(), &path)
                        .header("x-falconer-name", id);
                    expect_form(&method, &path, "", answer.send().await.unwrap()).await;
                }
            }
            if method == Method::GET {
                continue;
            }
            for body in nonsense() {
                let path = path
                    .replace("{id}", "x")
                    .replace("{message}", "x")
                    .replace("{task}", "x");
                let request = server.ask(method.clone(), &path).body(body.clone());
                let request = request.header("content-type", "application/json");
                let request = request.header("x-falconer-name", "x");
                expect_form(&method, &path, &body, request.send().await.unwrap()).await;
            }
        }
    }
    server.stop().await;
}

/// No fault of the server, and every refusal in the form all have.
async fn expect_form(method: &Method, path: &str, body: &str, answer: reqwest::Response) {
    let status = answer.status();
    let kind = answer.headers().get("content-type").cloned();
    let text = answer.text().await.unwrap();
    let body = &body[..body.len().min(100)];
    assert!(
        status.as_u16() < 500,
        "{method} {path} {body}: {status} {text}"
    );
    if !status.is_success() {
        assert_eq!(
            kind.unwrap(),
            "application/problem+json",
            "{method} {path} {body}: {text}"
        );
    }
}

#[tokio::test]
async fn a_body_of_two_lengths_is_refused_and_the_connection_closed() {
    let place = Place::new();
    let server = place.serve().await;
    let port = server.address.port();
    let token = server.token.clone();
    let hidden = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    for (one, other) in [
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 4"),
        ("Transfer-Encoding: chunked", "X-Nothing: 1"),
    ] {
        let request = format!(
            "POST /v1/rules/explain HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             {one}\r\n{other}\r\n\r\n0\r\n\r\n{hidden}"
        );
        let answer = raw(&server, request).await;
        assert!(
            answer.starts_with("HTTP/1.1 400"),
            "{one}, {other}: {answer}"
        );
        assert!(answer.contains("connection: close"), "{answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    }
}

#[tokio::test]
async fn suggestions_do_not_tell_what_exists_outside_the_roots() {
    let place = Place::new();
    let server = place.serve().await;
    let mut seen = Vec::new();
    for path in ["/etc", "/etc-missing", "/etc/../etc", "/proc/self/root/etc"] {
        let asked = serde_json::json!({"tool": "Read", "input": {"file_path": path}});
        let mut explained = server.post("/v1/rules/explain", asked).await;
        assert!(
            explained
                .get("suggestions")
                .is_none_or(|it| it == &serde_json::json!([])),
            "{explained}"
        );
        explained["because"] = serde_json::Value::Null;
        seen.push(explained);
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:?}");
}
