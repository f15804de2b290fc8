//! What misbehaving costs: the connection, never the server or the arm.

mod common;

use std::time::{Duration, Instant};

use common::{Heard, rig};
use futures_util::SinkExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_tungstenite::MaybeTlsStream;
use tokio_tungstenite::tungstenite::Message;

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
        if rig.driver_lock.driver().is_none() {
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
    let MaybeTlsStream::Plain(stream) = eve.socket.get_mut() else { panic!() };
    stream.write_all(&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe]).await.unwrap();
    eve.closed().await;
    wheel_is_free(&rig).await;
    // A header that promises eight exabytes.
    let mut eve = rig.join().await;
    eve.take().await;
    let MaybeTlsStream::Plain(stream) = eve.socket.get_mut() else { panic!() };
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
    assert!((200..=310).contains(&ann.states), "{} states in 10 s", ann.states);
    assert_eq!(rig.server.viewers(), 1, "the sleeper answers no ping");
    drop(sleeper);
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
