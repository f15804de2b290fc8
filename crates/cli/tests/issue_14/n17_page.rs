//! The token leaves the address, strict headers, and a view from behind the robot. Contrast, names
//! of canvases, the word while 3D loads, the replay page, the history of a real browser:
//! `peers/test_issue_14_page.py`.

use crate::common::temp;
use crate::page::{Page, Running, ask, parts};

#[test]
fn the_link_leads_to_a_page_whose_address_has_no_token() {
    let folder = temp();
    let drive = Running::start(folder.path(), "block_box --listen 127.0.0.1:0 --cameras none");
    let (host, path) = parts(drive.link());
    let token = path.split_once("token=").unwrap().1;
    let sent_on = ask(host, &format!("GET /{path} HTTP/1.1"));
    assert!(sent_on.starts_with("HTTP/1.1 303"), "{sent_on}");
    let location = sent_on.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    assert!(!location.contains(token), "{location}");
    let page = ask(host, &format!("GET {location} HTTP/1.1"));
    assert!(page.starts_with("HTTP/1.1 200") && page.contains(token), "{page}");
    let again = ask(host, &format!("GET {location} HTTP/1.1"));
    assert!(again.starts_with("HTTP/1.1 401") && !again.contains(token), "a code opens once");
    // A page that is loaded again shows the token in a header and gets another code.
    let code = ask(host, &format!("GET / HTTP/1.1\r\ncitrange-token: {token}"));
    let code = code.rsplit("\r\n").next().unwrap();
    let page = ask(host, &format!("GET /?once={code} HTTP/1.1"));
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let wrong = ask(host, "GET / HTTP/1.1\r\ncitrange-token: 00000000000000000000000000000000");
    assert!(wrong.starts_with("HTTP/1.1 401"), "{wrong}");
    for answer in [&sent_on, &page, &again, &ask(host, "GET /main.js HTTP/1.1")] {
        for header in
            ["cross-origin-opener-policy: same-origin", "cross-origin-resource-policy: same-origin"]
        {
            assert!(answer.contains(header), "{header}: {answer}");
        }
    }
}

#[test]
fn the_view_is_from_behind_the_robot() {
    let folder = temp();
    let drive = Running::start(folder.path(), "block_box --listen 127.0.0.1:0 --cameras none");
    let page = Page::open(drive.link());
    let stage = &page.hello["stage"];
    let at = |name: &str, axis: usize| stage[name][axis].as_f64().unwrap();
    let away = [0, 1].map(|axis| at("look_at_m", axis) - at("look_from_m", axis));
    // The robot of this scene faces +y: W must go away from whoever looks.
    let share = away[1] / away[0].hypot(away[1]);
    assert!(share > 0.97, "{away:?}");
    assert_eq!(stage["is_replay"], false);
}
