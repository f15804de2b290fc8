//! What pages say to the server: short JSON texts.
//!
//! | text | meaning |
//! |---|---|
//! | `{"type":"take"}`, `{"type":"leave"}` | wants the wheel, gives it back |
//! | `{"type":"stop"}` | stops the arm, also from one who only watches; the driver loses the wheel |
//! | `{"type":"keys","seq":7,"echo":812.5,"since":11.0,"held":["forward"],"sticks":[…]}` | holds this now |
//! | `{"type":"order","order":"save","echo":812.5,"since":11.0}` | wants this once |
//! | `{"type":"fly","target":2,"echo":812.5,"since":11.0}` | sends the autopilot to a target: its number from 1, 0 for all, or its name |
//! | `{"type":"halt","why":"asked"}` | stops the autopilot: `asked`, `focus`, `hidden` |
//! | `{"type":"cameras","hz":5}` | wants pictures this often, 0 to 15 |
//! | `{"type":"seen","frame":90}` | has the pictures of this frame: send more |
//!
//! `echo` is the newest server time (ms) the page has seen, `since` the milliseconds since it
//! arrived, by the page's own clock: together they tell how long a message was under way.
//! `sticks` are [`HeldKeys::STICKS`] numbers from -1 to 1 and may be left out. What the server says
//! is in [`wire`](crate::wire).

use citrange_teleop::{Halt, HeldKeys, Key, Order};
use serde::Deserialize;

/// Longest text taken.
pub const MOST_BYTES: usize = 2048;
/// Longest name of a target.
pub const MOST_NAME_BYTES: usize = 64;
/// Most targets that have a key.
pub const MOST_TARGETS: u8 = 9;

/// When a message left, as the page knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stamp {
    /// Newest server time the page had seen, in ms.
    pub echo_ms: f64,
    /// Milliseconds between then and sending.
    pub since_ms: f64,
}

/// A message that makes sense.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientMessage {
    /// Wants to drive.
    Take,
    /// Does not want to any more.
    Leave,
    /// Stops the arm, whoever drives.
    Stop,
    /// What is held.
    Keys {
        /// Counts the page's messages.
        seq: u64,
        /// When it left.
        stamp: Stamp,
        /// What is held.
        held: HeldKeys,
    },
    /// Something asked for once.
    Order {
        /// What.
        order: Order,
        /// When it left.
        stamp: Stamp,
    },
    /// Sends the autopilot.
    Fly {
        /// Where.
        aim: Aim,
        /// When it left.
        stamp: Stamp,
    },
    /// Stops the autopilot.
    Halt {
        /// Why.
        why: Halt,
    },
    /// Wants pictures this often.
    Cameras {
        /// Pictures per second and camera, at most [`MOST_PICTURE_HZ`](crate::wire::MOST_PICTURE_HZ).
        hz: f64,
    },
    /// Has seen the pictures up to this frame.
    Seen {
        /// Frame of the pictures.
        frame: u64,
    },
}

/// What an autopilot is sent to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Aim {
    /// A target by its key, from 1 to 9; 0 is all of them.
    Key(u8),
    /// A target by its name.
    Name(String),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Text {
    Take {},
    Leave {},
    Stop {},
    Keys {
        seq: u64,
        echo: f64,
        since: f64,
        held: Vec<Key>,
        #[serde(default)]
        sticks: Option<[f64; HeldKeys::STICKS]>,
    },
    Order {
        order: Order,
        echo: f64,
        since: f64,
    },
    Fly {
        target: Aim,
        echo: f64,
        since: f64,
    },
    Halt {
        why: Halt,
    },
    Cameras {
        hz: f64,
    },
    Seen {
        frame: u64,
    },
}

/// What an aim may be; whether there is such a target is known elsewhere.
fn aim(aim: Aim) -> Result<Aim, String> {
    match &aim {
        Aim::Key(key) if *key > MOST_TARGETS => {
            Err(format!("target: {key} is not from 0 to {MOST_TARGETS}"))
        }
        Aim::Name(name) if name.is_empty() || name.len() > MOST_NAME_BYTES => {
            Err(format!("target: a name of {} bytes; 1 to {MOST_NAME_BYTES}", name.len()))
        }
        _ => Ok(aim),
    }
}

/// Pages know only some of the reasons.
fn halt(why: Halt) -> Result<Halt, String> {
    match why {
        Halt::Asked | Halt::Focus | Halt::Hidden => Ok(why),
        _ => Err(format!("why: not for pages to say is {}; asked, focus, hidden are", why.name())),
    }
}

/// Longest plausible time in a message: a hundred years.
const LONGEST_MS: f64 = 3.2e12;

fn stamp(echo: f64, since: f64) -> Result<Stamp, String> {
    for (name, value) in [("echo", echo), ("since", since)] {
        if !(0.0..=LONGEST_MS).contains(&value) {
            return Err(format!("{name}: {value} is no time; milliseconds from 0 on are right"));
        }
    }
    Ok(Stamp { echo_ms: echo, since_ms: since })
}

impl ClientMessage {
    /// Reads a message.
    ///
    /// # Errors
    /// What is wrong with it, in one line without control characters, for the page that sent it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("{} bytes; {MOST_BYTES} are the most", text.len()));
        }
        let text: Text = serde_json::from_str(text).map_err(|e| clean(&e.to_string()))?;
        Ok(match text {
            Text::Take {} => Self::Take,
            Text::Leave {} => Self::Leave,
            Text::Stop {} => Self::Stop,
            Text::Keys { seq, echo, since, held, sticks } => Self::Keys {
                seq,
                stamp: stamp(echo, since)?,
                held: HeldKeys::new(held, sticks.unwrap_or_default()),
            },
            Text::Order { order, echo, since } => Self::Order { order, stamp: stamp(echo, since)? },
            Text::Fly { target, echo, since } => {
                Self::Fly { aim: aim(target)?, stamp: stamp(echo, since)? }
            }
            Text::Halt { why } => Self::Halt { why: halt(why)? },
            Text::Cameras { hz } => {
                let most = crate::wire::MOST_PICTURE_HZ;
                if !(0.0..=most).contains(&hz) {
                    return Err(format!("hz: {hz} is not from 0 to {most}"));
                }
                Self::Cameras { hz }
            }
            Text::Seen { frame } => Self::Seen { frame },
        })
    }
}

/// Words that quote the sender's, kept short and on one line.
pub(crate) fn clean(message: &str) -> String {
    message.chars().filter(|c| !c.is_control()).take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [&str; 12] = [
        r#"{"type":"take"}"#,
        r#"{"type":"leave"}"#,
        r#"{"type":"keys","seq":7,"echo":812.5,"since":11.25,"held":["forward","roll_left"]}"#,
        r#"{"type":"keys","seq":8,"echo":0,"since":0,"held":[],"sticks":[0,0.5,-1,0,9,0,0]}"#,
        r#"{"type":"order","order":"success","echo":1,"since":2}"#,
        r#"{"type":"cameras","hz":0}"#,
        r#"{"type":"cameras","hz":15}"#,
        r#"{"type":"seen","frame":12}"#,
        r#"{"type":"fly","target":2,"echo":1,"since":2}"#,
        r#"{"type":"fly","target":"orange_2","echo":1,"since":2}"#,
        r#"{"type":"halt","why":"hidden"}"#,
        r#"{"type":"stop"}"#,
    ];

    #[test]
    fn good_messages_are_understood() {
        let all: Vec<_> = GOOD.iter().map(|text| ClientMessage::parse(text).unwrap()).collect();
        assert_eq!((&all[0], &all[1]), (&ClientMessage::Take, &ClientMessage::Leave));
        let stamp = Stamp { echo_ms: 812.5, since_ms: 11.25 };
        let held = HeldKeys::new([Key::Forward, Key::RollLeft], [0.0; 7]);
        assert_eq!(all[2], ClientMessage::Keys { seq: 7, stamp, held });
        let ClientMessage::Keys { held, .. } = &all[3] else { panic!("{:?}", all[3]) };
        assert_eq!(held.pushed(), [0.0, 0.5, -1.0, 0.0, 1.0, 0.0, 0.0]);
        let stamp = Stamp { echo_ms: 1.0, since_ms: 2.0 };
        assert_eq!(all[4], ClientMessage::Order { order: Order::Success, stamp });
        assert_eq!(all[7], ClientMessage::Seen { frame: 12 });
        assert_eq!(all[8], ClientMessage::Fly { aim: Aim::Key(2), stamp });
        assert_eq!(all[9], ClientMessage::Fly { aim: Aim::Name("orange_2".into()), stamp });
        assert_eq!(all[10], ClientMessage::Halt { why: Halt::Hidden });
        assert_eq!(all[11], ClientMessage::Stop);
    }

    #[test]
    fn bad_messages_are_told_why() {
        let nested = format!(r#"{{"a":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
        for (text, why) in [
            ("", "EOF"),
            ("{}", "type"),
            ("null", "invalid type"),
            (r#"{"type":"soar"}"#, "unknown variant"),
            (r#"{"type":"take","by":"me"}"#, "by"),
            (r#"{"type":"keys","seq":7,"echo":1,"since":1}"#, "held"),
            (r#"{"type":"keys","seq":-7,"echo":1,"since":1,"held":[]}"#, "-7"),
            (r#"{"type":"keys","seq":7.5,"echo":1,"since":1,"held":[]}"#, "7.5"),
            (r#"{"type":"keys","seq":7,"echo":1e999,"since":1,"held":[]}"#, "out of range"),
            (r#"{"type":"keys","seq":7,"echo":-1,"since":1,"held":[]}"#, "echo"),
            (r#"{"type":"keys","seq":7,"echo":1,"since":1e300,"held":[]}"#, "since"),
            (r#"{"type":"keys","seq":7,"echo":1,"since":1,"held":["jump"]}"#, "jump"),
            (r#"{"type":"keys","seq":7,"echo":1,"since":1,"held":[],"sticks":[1]}"#, "length"),
            (r#"{"type":"order","order":"explode","echo":1,"since":1}"#, "explode"),
            (r#"{"type":"fly","echo":1,"since":1}"#, "target"),
            (r#"{"type":"fly","target":10,"echo":1,"since":1}"#, "0 to 9"),
            (r#"{"type":"fly","target":-1,"echo":1,"since":1}"#, "Aim"),
            (r#"{"type":"fly","target":"","echo":1,"since":1}"#, "0 bytes"),
            (r#"{"type":"fly","target":["a"],"echo":1,"since":1}"#, "Aim"),
            (r#"{"type":"halt","why":"left"}"#, "focus"),
            (r#"{"type":"cameras","hz":1000}"#, "15"),
            (nested.as_str(), "recursion"),
            ("{\"type\":\"\\u0007\\n<b>\"}", "unknown variant"),
        ] {
            let said = ClientMessage::parse(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
            assert!(said.len() < 700 && !said.chars().any(char::is_control), "{said}");
        }
        let name = "n".repeat(MOST_NAME_BYTES + 1);
        let said = ClientMessage::parse(&format!(
            r#"{{"type":"fly","target":"{name}","echo":1,"since":1}}"#
        ));
        assert!(said.unwrap_err().contains("65 bytes"));
        assert!(ClientMessage::parse(&" ".repeat(MOST_BYTES + 1)).unwrap_err().contains("2048"));
    }

    #[test]
    fn ten_thousand_damaged_messages_are_all_answered() {
        let mut rng = citrange_core::rng::Rng::new(0x5eed);
        let (mut taken, mut refused) = (0, 0);
        for round in 0..10_000 {
            let mut bytes = GOOD[round % GOOD.len()].as_bytes().to_vec();
            for _ in 0..=rng.below(4) {
                let at = rng.below(bytes.len());
                match rng.below(4) {
                    0 => bytes[at] ^= 1 << rng.below(8),
                    1 => bytes.truncate(at + 1),
                    2 => bytes.insert(at, rng.next_u64() as u8),
                    _ => bytes.extend_from_within(at..),
                }
            }
            match ClientMessage::parse(&String::from_utf8_lossy(&bytes)) {
                Ok(ClientMessage::Keys { held, stamp, .. }) => {
                    taken += 1;
                    assert!(held.pushed().iter().all(|s| (-1.0..=1.0).contains(s)));
                    assert!(stamp.echo_ms.is_finite() && stamp.since_ms >= 0.0);
                }
                Ok(_) => taken += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(taken > 50 && refused > 5_000, "{taken} taken, {refused} refused");
    }
}
