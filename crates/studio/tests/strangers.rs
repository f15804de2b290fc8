//! Who may not speak to the server, and what misbehaving costs.

mod common;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use citrange_control::Seat;
use citrange_studio::{Board, ServeOptions, Stage, StudioError, serve};
use common::{Heard, rig, rig_with};
use futures_util::SinkExt;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Error, Message};

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
    let page = ask(at, &get(&format!("/?token={}", rig.token()))).await;
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Citrange studio"), "{page}");
    assert!(page.contains("cache-control: no-store") && page.contains("text/html"));
    assert!(!page.contains(&rig.token()));
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
    let mut answers = vec![page, none, wrong, foreign, missing, post];
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
async fn a_thousand_bad_messages_change_nothing() {
    let rig = rig();
    let mut watcher = rig.join().await;
    let nested = format!(r#"{{"type":"take","x":{}{}}}"#, "[".repeat(900), "]".repeat(900));
    let bad = [
        "",
        "x",
        "null",
        "[]",
        "{}",
        r#"{"type":"fly"}"#,
        r#"{"type":7}"#,
        &nested,
        r#"{"type":"keys","seq":1e400,"echo":0,"since":0,"held":["forward"]}"#,
        r#"{"type":"keys","seq":99999999999999999999,"echo":0,"since":0,"held":["forward"]}"#,
        r#"{"type":"keys","seq":1,"echo":0,"since":0,"held":"forward"}"#,
        r#"{"type":"keys","seq":1,"echo":0,"since":0,"held":["forward",7]}"#,
        r#"{"type":"keys","seq":1,"echo":0,"since":0,"held":[],"sticks":[1,1,1,1,1,1,1,1]}"#,
        r#"{"type":"keys","seq":1,"echo":"now","since":0,"held":["forward"]}"#,
        r#"{"type":"order","order":{"stop":true},"echo":0,"since":0}"#,
        r#"{"type":"cameras","hz":-1}"#,
        "\u{0}\u{1}{\"",
        "{\"type\":\"take\"",
    ];
    let before = resident_bytes();
    let (mut sent, mut closed) = (0, 0);
    while sent < 1000 {
        let mut eve = rig.join().await;
        assert_eq!(eve.take().await["driving"], true);
        for round in 0..50 {
            let text = bad[(sent + round) % bad.len()];
            let message = match round % 10 {
                9 => Message::binary(vec![0xff; 40]),
                _ => Message::text(text.to_owned()),
            };
            if eve.socket.send(message).await.is_err() {
                break;
            }
        }
        sent += 50;
        let mut answered = 0;
        let why = loop {
            match eve.hear().await {
                Some(Heard::Text(value)) if value["type"] == "error" => answered += 1,
                Some(Heard::Closed(why)) => break why,
                Some(_) => {}
                None => panic!("not closed"),
            }
        };
        assert!(why.contains("made no sense"), "{why}");
        assert!((1..=5).contains(&answered), "{answered} answers");
        closed += 1;
        wheel_is_free(&rig).await;
    }
    assert_eq!(closed, 20);
    // Other tests run beside this one; a leak of every message and connection would be more.
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more");
    assert_eq!((rig.x_m(), rig.orders().len()), (0.0, 0));
    watcher.listen(Duration::from_millis(500)).await;
    assert!(watcher.states >= 12, "{}", watcher.states);
}

/// Memory of this process, server included.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

async fn wheel_is_free(rig: &common::Rig) {
    for _ in 0..100 {
        if rig.seat.driver().is_none() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the wheel is still taken");
}

#[tokio::test]
async fn invalid_text_and_oversized_messages_end_the_connection() {
    let rig = rig();
    let mut eve = rig.join().await;
    eve.take().await;
    eve.push(Duration::from_millis(200)).await;
    eve.text(format!(r#"{{"type":"take","x":"{}"}}"#, "x".repeat(3000))).await;
    eve.closed().await;
    wheel_is_free(&rig).await;
    assert!(rig.moved_after(Instant::now()).await < Duration::from_millis(200));
    // A text frame whose bytes are no text.
    let mut eve = rig.join().await;
    eve.take().await;
    let tokio_tungstenite::MaybeTlsStream::Plain(stream) = eve.socket.get_mut() else { panic!() };
    stream.write_all(&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe]).await.unwrap();
    eve.closed().await;
    wheel_is_free(&rig).await;
    // A header that promises eight exabytes.
    let mut eve = rig.join().await;
    eve.take().await;
    let tokio_tungstenite::MaybeTlsStream::Plain(stream) = eve.socket.get_mut() else { panic!() };
    stream
        .write_all(&[0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])
        .await
        .unwrap();
    eve.closed().await;
    wheel_is_free(&rig).await;
    rig.join().await;
}

#[tokio::test]
async fn a_flood_is_cut_off() {
    let rig = rig();
    let mut eve = rig.join().await;
    for _ in 0..400 {
        if eve.socket.feed(Message::text(r#"{"type":"take"}"#)).await.is_err() {
            break;
        }
    }
    let _ = eve.socket.flush().await;
    let why = eve.closed().await;
    assert!(why.contains("200 messages"), "{why}");
    wheel_is_free(&rig).await;
}

#[tokio::test]
async fn a_reader_that_never_reads_is_dropped_and_disturbs_nobody() {
    let rig = rig();
    let sleeper = rig.join().await;
    let mut ann = rig.join().await;
    ann.states = 0;
    ann.listen(Duration::from_secs(10)).await;
    assert!((270..=310).contains(&ann.states), "{} states in 10 s", ann.states);
    assert_eq!(rig.server.viewers(), 1, "the sleeper answers no ping");
    drop(sleeper);
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

#[tokio::test]
async fn half_requests_and_noise_take_no_place_for_ever() {
    let rig = rig();
    let at = rig.server.address();
    let mut noise = Vec::new();
    for round in 0..40_u8 {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let bytes: &[u8] = if round % 2 == 0 {
            b"GET / HTTP/1.1\r\nHost: loc"
        } else {
            &[0x16, 3, 1, 0, 0xff, round]
        };
        stream.write_all(bytes).await.unwrap();
        noise.push(stream);
    }
    let huge = format!("GET / HTTP/1.1\r\nHost: {at}\r\nX: {}", "x".repeat(100_000));
    let mut stream = TcpStream::connect(at).await.unwrap();
    let _ = stream.write_all(huge.as_bytes()).await;
    let mut ann = rig.join().await;
    assert_eq!(ann.take().await["driving"], true);
}

#[test]
fn a_busy_port_is_named_with_a_way_out() {
    let rig = rig();
    let options = ServeOptions { listen: rig.server.address(), ..ServeOptions::default() };
    let again = serve(Board::new(Stage::default()), Seat::new(Seat::LONGEST_SILENCE), &options);
    let error = again.unwrap_err();
    assert!(matches!(error, StudioError::PortBusy(_)));
    let (said, port) = (error.to_string(), options.listen.port().to_string());
    assert!(said.contains(&port) && said.contains("port 0"), "{said}");
    let options = ServeOptions { token: Some("short".into()), ..options };
    let weak = serve(Board::new(Stage::default()), Seat::new(Seat::LONGEST_SILENCE), &options);
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
    let seat = rig.seat.clone();
    let stopped = tokio::task::spawn_blocking(move || {
        let begin = Instant::now();
        drop(rig);
        begin.elapsed()
    });
    assert!(ann.closed().await.contains("server stops"));
    drop(ann);
    assert!(stopped.await.unwrap() < Duration::from_secs(2));
    assert_eq!(seat.driver(), None);
    std::net::TcpListener::bind(address).unwrap();
}
