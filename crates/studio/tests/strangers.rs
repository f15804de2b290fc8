//! Who may speak to the server, and what it shows to whom.

mod common;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use citrange_studio::{SceneInfo, ServeOptions, StudioError, Telemetry, serve};
use citrange_teleop::DriverLock;
use common::{rig, rig_with};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;

fn status_of(result: Result<common::Client, Error>) -> u16 {
    match result {
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(other) => panic!("{other}"),
        Ok(_) => 101,
    }
}

#[tokio::test]
async fn sockets_need_the_token_a_known_host_and_our_own_origin() {
    let rig = rig();
    let (token, host) = (rig.token(), rig.host());
    let origin = format!("http://{host}");
    let wrong = "0".repeat(32);
    let evil = format!("evil.example:{}", rig.server.address().port());
    let evil_origin = format!("http://{evil}");
    for (token, name, origin, wanted) in [
        (Some(&*token), None, Some(&*origin), 101),
        // A tunnel changes the port, for both.
        (Some(&*token), Some("localhost:9999"), Some("http://localhost:9999"), 101),
        (None, None, Some(&*origin), 401),
        (Some(&*wrong), None, Some(&*origin), 403),
        (Some(&token[1..]), None, Some(&*origin), 403),
        (Some(&*token), None, None, 403),
        (Some(&*token), None, Some("null"), 403),
        (Some(&*token), None, Some("http://evil.example"), 403),
        (Some(&*token), None, Some("http://127.0.0.1:1"), 403),
        (Some(&*token), Some(&*evil), Some(&*evil_origin), 403),
    ] {
        let found = status_of(rig.knock(token, name, origin).await);
        assert_eq!(found, wanted, "{token:?} {name:?} {origin:?}");
    }
}

/// One request, the whole answer.
async fn ask(address: SocketAddr, head: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn the_page_needs_the_token_and_everything_has_strict_headers() {
    let rig = rig();
    let at = rig.server.address();
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {at}");
    let sent_on = ask(at, &get(&format!("/?token={}", rig.token()))).await;
    assert!(sent_on.starts_with("HTTP/1.1 303"), "{sent_on}");
    let next = sent_on.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    assert!(!next.contains(&rig.token()), "{next}");
    let page = ask(at, &get(next)).await;
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Citrange studio"), "{page}");
    assert!(page.contains("cache-control: no-store") && page.contains("text/html"));
    let none = ask(at, &get("/")).await;
    assert!(none.starts_with("HTTP/1.1 401") && none.contains("needs its token"), "{none}");
    let wrong = ask(at, &get("/?token=00000000000000000000000000000000")).await;
    assert!(wrong.starts_with("HTTP/1.1 403") && wrong.contains("out of date"), "{wrong}");
    let foreign = format!("GET /?token={} HTTP/1.1\r\nHost: evil.example", rig.token());
    let foreign = ask(at, &foreign).await;
    assert!(foreign.starts_with("HTTP/1.1 403") && !foreign.contains("<title>"), "{foreign}");
    let missing = ask(at, &get("/../Cargo.toml")).await;
    assert!(missing.starts_with("HTTP/1.1 404"), "{missing}");
    let post = ask(at, &format!("POST /main.js HTTP/1.1\r\nHost: {at}\r\nContent-Length: 0")).await;
    assert!(post.starts_with("HTTP/1.1 405"), "{post}");
    let mut answers = vec![sent_on, page, none, wrong, foreign, missing, post];
    for (path, kind) in [
        ("/studio.css", "text/css"),
        ("/main.js", "text/javascript"),
        ("/worker.js", "text/javascript"),
        ("/icon.svg", "image/svg+xml"),
        ("/three-0.178.0/three.module.min.js", "text/javascript"),
        ("/three-0.178.0/three.core.min.js", "text/javascript"),
        ("/three-0.178.0/LICENSE", "text/plain"),
    ] {
        let answer = ask(at, &get(path)).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}");
        assert!(answer.contains(&format!("content-type: {kind}")), "{path}");
        answers.push(answer);
    }
    for answer in &answers {
        let (head, _) = answer.split_once("\r\n\r\n").unwrap();
        for header in [
            "content-security-policy: default-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(header), "{header}: {head}");
        }
    }
}

#[test]
fn the_page_has_no_inline_script_or_style_and_its_parts_exist() {
    let page = include_str!("../web/index.html");
    assert!(!page.contains("style=") && !page.contains("onclick") && !page.contains("<style"));
    assert!(
        page.matches("<script").count() == page.matches("<script type=\"module\" src=").count()
    );
    assert!(!page.contains("http://") && !page.contains("https://"));
    // The version that set-up brings is the one in the paths.
    let script = include_str!("../../../scripts/web.sh");
    let version = script.split("version=").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    assert!(page.contains(&format!("/three-{version}/LICENSE")), "{version}");
}

#[tokio::test]
async fn every_module_that_is_imported_is_served() {
    let rig = rig();
    let at = rig.server.address();
    let (mut open, mut seen) = (vec!["/main.js".to_owned(), "/worker.js".to_owned()], 0);
    let mut known = open.clone();
    while let Some(path) = open.pop() {
        let answer = ask(at, &format!("GET {path} HTTP/1.1\r\nHost: {at}")).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path} is imported but not served");
        seen += 1;
        if path.contains("three-") {
            continue;
        }
        for part in answer.split("\"./").skip(1) {
            let next = format!("/{}", part.split('"').next().unwrap());
            if !known.contains(&next) {
                known.push(next.clone());
                open.push(next);
            }
        }
    }
    assert!(seen >= 12, "{seen}");
}

#[tokio::test]
async fn there_is_a_most_of_viewers() {
    let rig = rig();
    let mut all = Vec::new();
    for _ in 0..16 {
        all.push(rig.join().await);
    }
    for _ in 0..4 {
        assert_eq!(status_of(rig.try_join().await), 503);
    }
    assert_eq!(rig.server.viewers(), 16);
    all.pop();
    tokio::time::sleep(Duration::from_millis(200)).await;
    all.push(rig.join().await);
}

#[test]
fn a_busy_port_is_named_with_a_way_out() {
    let rig = rig();
    let options = ServeOptions { listen: rig.server.address(), ..ServeOptions::default() };
    let again = serve(
        Telemetry::new(SceneInfo::default()),
        DriverLock::new(DriverLock::LONGEST_SILENCE),
        &options,
    );
    let error = again.unwrap_err();
    assert!(matches!(error, StudioError::PortBusy(_)));
    let (said, port) = (error.to_string(), options.listen.port().to_string());
    assert!(said.contains(&port) && said.contains("port 0"), "{said}");
    let options = ServeOptions { token: Some("short".into()), ..options };
    let weak = serve(
        Telemetry::new(SceneInfo::default()),
        DriverLock::new(DriverLock::LONGEST_SILENCE),
        &options,
    );
    assert!(matches!(weak, Err(StudioError::Token { length: 5, .. })));
}

#[tokio::test]
async fn other_names_can_be_allowed_and_tokens_chosen() {
    let token = "a_token-that-is-long";
    let options = ServeOptions {
        hosts: vec!["robot.local".into()],
        token: Some(token.into()),
        ..ServeOptions::default()
    };
    let rig = rig_with(options);
    assert!(rig.server.link().ends_with(token));
    let found = rig.knock(Some(token), Some("robot.local:80"), Some("http://robot.local:80")).await;
    assert_eq!(status_of(found), 101);
}

#[tokio::test]
async fn stopping_says_goodbye_and_frees_the_port() {
    let rig = rig();
    let mut ann = rig.join().await;
    ann.take().await;
    ann.send(&json!({"type": "cameras", "hz": 5})).await;
    let address = rig.server.address();
    let driver_lock = rig.driver_lock.clone();
    let stopped = tokio::task::spawn_blocking(move || {
        let begin = Instant::now();
        drop(rig);
        begin.elapsed()
    });
    assert!(ann.closed().await.contains("server stops"));
    drop(ann);
    assert!(stopped.await.unwrap() < Duration::from_secs(2));
    assert_eq!(driver_lock.driver(), None);
    std::net::TcpListener::bind(address).unwrap();
}
