//! Links that other machines can use, strangers who keep nobody out, a most of viewers that is
//! said, and an arm that anybody may stop. The link in a terminal: `peers/test_terminal.py`.

use std::io::{ErrorKind, Read as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::json;
use tokio_tungstenite::tungstenite::Error;

use crate::common::temp;
use crate::page::{Page, Running, ask, parts};

#[test]
fn a_server_on_all_addresses_prints_links_that_other_machines_can_open() {
    let folder = temp();
    let drive = Running::start(folder.path(), "block_box --listen 0.0.0.0:0 --cameras none");
    let links: Vec<&str> =
        drive.serving["links"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
    assert!(links.last().unwrap().contains("127.0.0.1"), "{links:?}");
    assert!(links.iter().all(|link| !link.contains("0.0.0.0") && link.contains("?token=")));
    // This machine may have no network at all; where it has one, its address is there.
    let outward = std::net::UdpSocket::bind("0.0.0.0:0").ok().and_then(|socket| {
        socket.connect("192.0.2.1:9").ok()?;
        Some(socket.local_addr().ok()?.ip().to_string())
    });
    if let Some(address) = outward.filter(|address| !address.starts_with("127.")) {
        assert!(links.iter().any(|link| link.contains(&address)), "{address}: {links:?}");
    }
    for link in links {
        let (host, path) = parts(link);
        let answer = ask(host, &format!("GET /{path} HTTP/1.1"));
        assert!(answer.starts_with("HTTP/1.1 303"), "{link}: {answer}");
    }
}

#[test]
fn idle_connections_keep_nobody_out() {
    let folder = temp();
    let drive = Running::start(folder.path(), "block_box --listen 127.0.0.1:0 --cameras none");
    let (host, path) = parts(drive.link());
    let at: SocketAddr = host.parse().unwrap();
    let mut idle: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(at).unwrap()).collect();
    // Somebody with the link comes in all the same, and stays.
    let answer = ask(host, &format!("GET /{path} HTTP/1.1"));
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    let mut page = Page::open(drive.link());
    // The oldest strangers had to go for it: at once, not when their time was over.
    idle[0].set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let gone =
        idle[0].read(&mut [0]).map_or_else(|e| e.kind() == ErrorKind::ConnectionReset, |n| n == 0);
    assert!(gone, "the oldest is still there");
    for _ in 0..100 {
        idle.push(TcpStream::connect(at).unwrap());
    }
    page.look();
}

#[test]
fn the_most_of_viewers_is_a_setting_and_one_too_many_is_told() {
    let folder = temp();
    let words = "block_box --listen 127.0.0.1:0 --cameras none --max-viewers 2";
    let drive = Running::start(folder.path(), words);
    let (_first, _second) = (Page::open(drive.link()), Page::open(drive.link()));
    let Err(Error::Http(refused)) = Page::try_open(drive.link()) else { panic!("there is room") };
    assert_eq!(refused.status(), 503);
    let (host, path) = parts(drive.link());
    let answer = ask(host, &format!("HEAD /{path} HTTP/1.1"));
    assert!(answer.contains("citrange-viewers: 2/2"), "{answer}");
}

#[test]
fn whoever_watches_may_stop_the_arm_and_only_the_driver_moves_it() {
    let folder = temp();
    let drive = Running::start(folder.path(), "block_box --listen 127.0.0.1:0 --cameras none");
    let (mut ann, mut bob) = (Page::open(drive.link()), Page::open(drive.link()));
    ann.cameras(0);
    bob.cameras(0);
    ann.take();
    ann.until(&["up"], |s| s["held"] == json!(["up"]));
    bob.say(&json!({"type": "stop"}));
    // Ann's hand is still on the key.
    let stopped = ann.until(&["up"], |s| s["stopped_by"] == bob.hello["you"]);
    assert_eq!((&stopped["driver"], &stopped["you_drive"]), (&json!(null), &json!(false)));
    let held = ann.until(&["up"], |s| s["held"] == json!([]));
    assert_eq!(held["brake"], true);
    // It comes to rest and stays there, whatever Ann holds.
    let still = |page: &mut Page, held: &[&str]| {
        let begun = page.time_s;
        while page.time_s < begun + 0.5 {
            page.keys(held);
            page.look();
        }
        page.hand_m[2]
    };
    still(&mut ann, &["up"]);
    let rest = still(&mut ann, &["up"]);
    assert!((still(&mut ann, &["up"]) - rest).abs() < 5e-4, "it still moves");
    // The wheel has to be taken anew, and the key, which was never let go, pressed anew.
    ann.take();
    ann.until(&[], |s| s["you_drive"] == true && s["stopped_by"].is_null());
    ann.keys(&["up"]);
    let held = ann.until(&["up"], |s| s["brake"] == true);
    assert_eq!(held["held"], json!([]));
    ann.keys(&[]);
    ann.until(&["up"], |s| s["held"] == json!(["up"]));
}
