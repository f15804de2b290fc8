//! What a terminal says about keys becomes what is held.
//!
//! A terminal with the kitty keyboard protocol tells when a key is let go. A plain one repeats a
//! held key and says nothing when it is let go: then every key press is a short step that decays,
//! and a held key is many of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::keys::{HeldKeys, Key};

/// How keys are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// Press and release.
    Releases,
    /// Press and repeat only.
    Presses,
}

/// A terminal may be far away and gone without a word. A held key repeats, at the latest after
/// the usual delay of keyboards; when nothing at all is heard for this long, it was let go.
const SILENCE: Duration = Duration::from_millis(700);
/// A step is at full speed for so long,
const FULL: Duration = Duration::from_millis(90);
/// and over after so long. Repeats come every 30 to 50 ms.
const OVER: Duration = Duration::from_millis(220);

/// Keys of one terminal.
#[derive(Debug)]
pub struct TerminalKeys {
    telling: Telling,
    /// When each key was last pressed or repeated.
    down: BTreeMap<Key, Instant>,
    heard: Option<Instant>,
}

impl TerminalKeys {
    /// No key is down.
    #[must_use]
    pub fn new(telling: Telling) -> Self {
        Self { telling, down: BTreeMap::new(), heard: None }
    }

    /// A key was pressed, or repeats.
    pub fn press(&mut self, key: Key, now: Instant) {
        self.down.insert(key, now);
        self.heard = Some(now);
    }

    /// A key was let go.
    pub fn release(&mut self, key: Key, now: Instant) {
        self.down.remove(&key);
        self.heard = Some(now);
    }

    /// All keys are let go: the window lost the focus.
    pub fn release_all(&mut self) {
        self.down.clear();
    }

    /// What is held at `now`.
    pub fn held(&mut self, now: Instant) -> HeldKeys {
        let age = |then: Instant| now.saturating_duration_since(then);
        match self.telling {
            Telling::Releases => {
                if self.heard.is_none_or(|heard| age(heard) > SILENCE) {
                    self.down.clear();
                }
                HeldKeys::new(self.down.keys().copied(), [0.0; HeldKeys::STICKS])
            }
            Telling::Presses => {
                self.down.retain(|_, pressed| age(*pressed) < OVER);
                let mut sticks = [0.0; HeldKeys::STICKS];
                for (key, pressed) in &self.down {
                    let strength = 1.0
                        - age(*pressed).saturating_sub(FULL).as_secs_f64()
                            / (OVER - FULL).as_secs_f64();
                    let pushed = HeldKeys::new([*key], [0.0; HeldKeys::STICKS]).pushed();
                    for (stick, push) in sticks.iter_mut().zip(pushed) {
                        *stick += push * strength;
                    }
                }
                HeldKeys::new([], sticks)
            }
        }
    }
}

/// The key that sent the autopilot. Any other press stops it, but a terminal that tells no
/// releases repeats a key that stays down, as presses.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    pressed: Option<(String, Instant)>,
}

impl Sender {
    /// A key that sends was pressed; `cap` is what is printed on it.
    pub(crate) fn press(&mut self, cap: &str, now: Instant) {
        self.pressed = Some((cap.to_owned(), now));
    }

    /// Whether this is that key, still down.
    pub(crate) fn repeats(&mut self, cap: &str, now: Instant) -> bool {
        let is_same = self.pressed.as_ref().is_some_and(|(before, then)| {
            before == cap && now.saturating_duration_since(*then) < SILENCE
        });
        if is_same {
            self.press(cap, now);
        }
        is_same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn with_releases_a_key_is_held_until_let_go() {
        let mut keys = TerminalKeys::new(Telling::Releases);
        let start = Instant::now();
        keys.press(Key::Up, start);
        keys.press(Key::Left, start + ms(100));
        let both: Vec<Key> = keys.held(start + ms(200)).keys().collect();
        assert_eq!(both, [Key::Left, Key::Up]);
        keys.release(Key::Left, start + ms(300));
        assert_eq!(keys.held(start + ms(400)).keys().collect::<Vec<_>>(), [Key::Up]);
        keys.release_all();
        assert!(keys.held(start + ms(400)).is_nothing());
    }

    #[test]
    fn a_terminal_that_fell_silent_holds_nothing() {
        let mut keys = TerminalKeys::new(Telling::Releases);
        let start = Instant::now();
        keys.press(Key::Up, start);
        // Keyboards wait up to 660 ms before they repeat.
        assert!(!keys.held(start + ms(690)).is_nothing());
        keys.press(Key::Up, start + ms(690));
        assert!(!keys.held(start + ms(1380)).is_nothing());
        assert!(keys.held(start + ms(1391)).is_nothing());
        // And it stays let go until something is pressed.
        assert!(keys.held(start + ms(1392)).is_nothing());
    }

    #[test]
    fn without_releases_a_press_is_a_step_that_decays() {
        let mut keys = TerminalKeys::new(Telling::Presses);
        let start = Instant::now();
        keys.press(Key::Down, start);
        let up = |keys: &mut TerminalKeys, at| keys.held(start + ms(at)).pushed()[2];
        assert_eq!(up(&mut keys, 50), -1.0);
        let half = up(&mut keys, 155);
        assert!((half + 0.5).abs() < 1e-9, "{half}");
        assert_eq!(up(&mut keys, 221), 0.0);
        // Repeats keep it going at full speed.
        for at in (300..1000).step_by(40) {
            keys.press(Key::Down, start + ms(at));
            assert_eq!(up(&mut keys, at + 39), -1.0);
        }
        // Two keys at once.
        keys.press(Key::Open, start + ms(1000));
        let pushed = keys.held(start + ms(1010)).pushed();
        assert_eq!((pushed[2], pushed[4]), (-1.0, 1.0));
    }

    #[test]
    fn the_key_that_sent_the_autopilot_may_stay_down() {
        let mut sender = Sender::default();
        let start = Instant::now();
        assert!(!sender.repeats("2", start));
        sender.press("2", start);
        assert!(sender.repeats("2", start + ms(650)));
        assert!(sender.repeats("2", start + ms(690)));
        assert!(!sender.repeats("1", start + ms(700)));
        assert!(!sender.repeats("2", start + ms(1400)), "pressed again");
    }
}
