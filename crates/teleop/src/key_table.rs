//! Every key and what it does: the one table that the page, the terminal and `docs/keys.md` go by.
//!
//! A key is a place on the keyboard, not a letter: browsers say which with `KeyboardEvent.code`, so
//! that on other layouts it is the same finger. Terminals only say what is printed on it.

use serde::Serialize;

use crate::autopilot_request::AutopilotRequest;
use crate::driver_lock::Order;
use crate::keys::Key;

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Moves the arm while it is held.
    Hold(Key),
    /// Orders something once.
    Order(Order),
    /// Sends the autopilot.
    Send(AutopilotRequest),
    /// Stops the arm, whoever drives it.
    StopArm,
    /// Takes the wheel again after somebody stopped the arm.
    TakeWheel,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Binding {
    /// What it does.
    #[serde(flatten, serialize_with = "does")]
    pub action: Action,
    /// Its name in messages; no two rows have the same.
    pub name: &'static str,
    /// What is printed on the keys; people are told the first.
    pub caps: &'static [&'static str],
    /// What browsers call them; none for a key of the terminal alone.
    pub codes: &'static [&'static str],
    /// A word or two for a button.
    pub label: &'static str,
    /// A line for help and documents.
    pub words: &'static str,
    /// Where its keycap is shown: group, row, column; none for what has another button.
    pub place: Option<[u8; 3]>,
    /// Whether terminals know it.
    pub in_terminal: bool,
}

const fn hold(
    key: Key,
    name: &'static str,
    (caps, codes): (&'static [&'static str], &'static [&'static str]),
    [label, words]: [&'static str; 2],
    place: [u8; 3],
) -> Binding {
    let (action, place) = (Action::Hold(key), Some(place));
    Binding { action, name, caps, codes, label, words, place, in_terminal: true }
}

const fn order(
    order: Order,
    name: &'static str,
    (caps, codes): (&'static [&'static str], &'static [&'static str]),
    [label, words]: [&'static str; 2],
) -> Binding {
    let action = Action::Order(order);
    Binding { action, name, caps, codes, label, words, place: None, in_terminal: true }
}

const fn target(
    number: usize,
    name: &'static str,
    caps: &'static [&'static str],
    codes: &'static [&'static str],
) -> Binding {
    let (label, words) = ("Fetch", "the autopilot fetches the target with this number");
    let action = Action::Send(AutopilotRequest::Target(number));
    Binding { action, name, caps, codes, label, words, place: None, in_terminal: true }
}

/// All keys: those that are held in the order of [`Key`], orders as their buttons stand, then the
/// autopilot's.
pub const KEY_TABLE: [Binding; 32] = [
    hold(
        Key::Forward,
        "forward",
        (&["W"], &["KeyW"]),
        ["forward", "forward, where the base faces: away from you in the page"],
        [0, 0, 1],
    ),
    hold(Key::Backward, "backward", (&["S"], &["KeyS"]), ["back", "backward"], [0, 1, 1]),
    hold(Key::Left, "left", (&["A"], &["KeyA"]), ["left", "left"], [0, 1, 0]),
    hold(Key::Right, "right", (&["D"], &["KeyD"]), ["right", "right"], [0, 1, 2]),
    hold(Key::Up, "up", (&["Q"], &["KeyQ"]), ["up", "up"], [0, 0, 0]),
    hold(Key::Down, "down", (&["E"], &["KeyE"]), ["down", "down"], [0, 0, 2]),
    hold(
        Key::RollLeft,
        "roll_left",
        (&["["], &["BracketLeft"]),
        ["roll left", "roll the wrist left"],
        [1, 0, 0],
    ),
    hold(
        Key::RollRight,
        "roll_right",
        (&["]"], &["BracketRight"]),
        ["roll right", "roll the wrist right"],
        [1, 0, 1],
    ),
    hold(Key::Open, "open", (&["O"], &["KeyO"]), ["open", "open the jaws"], [1, 1, 0]),
    hold(Key::Close, "close", (&["C"], &["KeyC"]), ["close", "close the jaws"], [1, 1, 1]),
    hold(
        Key::TiltForward,
        "tilt_forward",
        (&["I"], &["KeyI"]),
        ["tilt fwd", "tilt forward (arms of six or seven joints)"],
        [2, 0, 1],
    ),
    hold(
        Key::TiltBackward,
        "tilt_backward",
        (&["K"], &["KeyK"]),
        ["tilt back", "tilt backward (arms of six or seven joints)"],
        [2, 1, 1],
    ),
    hold(
        Key::TiltLeft,
        "tilt_left",
        (&["J"], &["KeyJ"]),
        ["tilt left", "tilt left (arms of six or seven joints)"],
        [2, 1, 0],
    ),
    hold(
        Key::TiltRight,
        "tilt_right",
        (&["L"], &["KeyL"]),
        ["tilt right", "tilt right (arms of six or seven joints)"],
        [2, 1, 2],
    ),
    order(
        Order::Success,
        "success",
        (&["Enter"], &["Enter", "NumpadEnter"]),
        ["Success", "save the episode as a success; keeps it, where that is asked"],
    ),
    order(
        Order::Failure,
        "failure",
        (&["Backspace"], &["Backspace"]),
        ["Failure", "save the episode as a failure; throws it away, where that is asked"],
    ),
    order(
        Order::Save,
        "save",
        (&["→"], &["ArrowRight"]),
        ["Save", "save the episode without a verdict; ends a wait"],
    ),
    order(
        Order::Discard,
        "discard",
        (&["←"], &["ArrowLeft"]),
        ["Discard", "throw the episode away, the same scene again"],
    ),
    order(
        Order::Reset,
        "reset",
        (&["R"], &["KeyR"]),
        ["Reset", "put the scene back to the start of the episode"],
    ),
    order(
        Order::Stop,
        "stop",
        (&["Esc"], &["Escape"]),
        ["Stop and end", "keep what was recorded and end; stops an autopilot first"],
    ),
    Binding {
        action: Action::StopArm,
        name: "stop_arm",
        caps: &["Space"],
        codes: &["Space"],
        label: "Stop the arm",
        words: "stop the autopilot; without one the arm, also for those who only watch",
        place: None,
        in_terminal: false,
    },
    Binding {
        action: Action::TakeWheel,
        name: "take_wheel",
        caps: &["T"],
        codes: &[],
        label: "Take the wheel",
        words: "take the wheel again after somebody stopped the arm (a button in the page)",
        place: None,
        in_terminal: true,
    },
    target(1, "target_1", &["1"], &["Digit1", "Numpad1"]),
    target(2, "target_2", &["2"], &["Digit2", "Numpad2"]),
    target(3, "target_3", &["3"], &["Digit3", "Numpad3"]),
    target(4, "target_4", &["4"], &["Digit4", "Numpad4"]),
    target(5, "target_5", &["5"], &["Digit5", "Numpad5"]),
    target(6, "target_6", &["6"], &["Digit6", "Numpad6"]),
    target(7, "target_7", &["7"], &["Digit7", "Numpad7"]),
    target(8, "target_8", &["8"], &["Digit8", "Numpad8"]),
    target(9, "target_9", &["9"], &["Digit9", "Numpad9"]),
    Binding {
        action: Action::Send(AutopilotRequest::All),
        name: "all",
        caps: &["0", "G"],
        codes: &["Digit0", "Numpad0", "KeyG"],
        label: "all",
        words: "the autopilot fetches all targets, in their order",
        place: None,
        in_terminal: true,
    },
];

/// Tells the page what a key does, with the number of the target where it sends the autopilot.
fn does<S: serde::Serializer>(action: &Action, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap as _;
    let mut map = serializer.serialize_map(None)?;
    let does = match action {
        Action::Hold(_) => "hold",
        Action::Order(_) => "order",
        Action::Send(_) => "send",
        Action::StopArm => "stop_arm",
        Action::TakeWheel => "take_wheel",
    };
    map.serialize_entry("does", does)?;
    match action {
        Action::Send(AutopilotRequest::All) => map.serialize_entry("target", &0)?,
        Action::Send(AutopilotRequest::Target(number)) => map.serialize_entry("target", number)?,
        _ => {}
    }
    map.end()
}

impl Binding {
    /// The row of the key on which a terminal's `cap` is printed.
    #[must_use]
    pub fn in_terminal(cap: &str) -> Option<&'static Self> {
        let has_it = |row: &Self| row.caps.iter().any(|known| known.eq_ignore_ascii_case(cap));
        KEY_TABLE.iter().find(|row| row.in_terminal && has_it(row))
    }

    /// What is printed on its key, as people are told.
    #[must_use]
    pub fn cap(&self) -> &'static str {
        self.caps.first().copied().unwrap_or_default()
    }
}

impl Order {
    /// Its row of the table.
    #[must_use]
    pub fn binding(self) -> Option<&'static Binding> {
        KEY_TABLE.iter().find(|row| row.action == Action::Order(self))
    }
}

/// Keys of orders in a line for people: `Enter success, Backspace failure`.
#[must_use]
pub fn orders_in_words(orders: &[Order], between: &str) -> String {
    let rows = orders.iter().filter_map(|order| order.binding());
    let words: Vec<String> =
        rows.map(|row| format!("{} {}", row.cap(), row.label.to_lowercase())).collect();
    words.join(between)
}

/// The table as `docs/keys.md` has it.
#[must_use]
pub fn key_document() -> String {
    let row = |alike: &[&Binding]| {
        let Some(binding) = alike.first() else { return String::new() };
        let page = if binding.codes.is_empty() { "" } else { "page" };
        let terminal = if binding.in_terminal { "terminal" } else { "" };
        let and = if page.is_empty() || terminal.is_empty() { "" } else { ", " };
        let caps: Vec<String> = alike.iter().map(|binding| binding.caps.join(" or ")).collect();
        format!("| {} | {} | {page}{and}{terminal} |\n", caps.join(", "), binding.words)
    };
    let rows = |is_part: &dyn Fn(&Action) -> bool| -> String {
        let part: Vec<_> = KEY_TABLE.iter().filter(|row| is_part(&row.action)).collect();
        part.chunk_by(|a, b| a.words == b.words).map(row).collect()
    };
    let head = "| key | does | in |\n|---|---|---|\n";
    format!(
        "# Keys\nMade from the table in `crates/teleop/src/key_table.rs`; a test compares the two.\n\n\
         ## Held: the arm moves until they are let go\n{head}{}\n\
         ## Pressed once\n{head}{}\n\
         ## The autopilot, where the scene has a job\n{head}{}\n\
         In the page the digits of the number pad count too. Any movement key, stick or touch \
         stops the autopilot; in the terminal any key does.\n\n\
         Keys are places on the keyboard, not letters: on other layouts they are the same fingers \
         (terminals only tell letters).\n",
        rows(&|action| matches!(action, Action::Hold(_))),
        rows(&|action| !matches!(action, Action::Hold(_) | Action::Send(_))),
        rows(&|action| matches!(action, Action::Send(_))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_key_and_no_name_is_there_twice() {
        fn once<'a>(words: impl Iterator<Item = &'a str>) {
            let mut known = BTreeSet::new();
            words.for_each(|word| assert!(known.insert(word.to_lowercase()), "{word} twice"));
        }
        once(KEY_TABLE.iter().map(|row| row.name));
        once(KEY_TABLE.iter().flat_map(|row| row.caps.iter().copied()));
        once(KEY_TABLE.iter().flat_map(|row| row.codes.iter().copied()));
        let places: Vec<_> = KEY_TABLE.iter().filter_map(|row| row.place).collect();
        assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), places.len());
    }

    #[test]
    fn names_are_those_of_the_messages() {
        for row in &KEY_TABLE {
            let name = match row.action {
                Action::Hold(key) => serde_json::to_value(key).unwrap(),
                Action::Order(order) => serde_json::to_value(order).unwrap(),
                _ => continue,
            };
            assert_eq!(name, row.name);
            assert_eq!(row.place.is_some(), matches!(row.action, Action::Hold(_)), "{}", row.name);
        }
        let orders = [Order::Save, Order::Discard, Order::Success, Order::Failure];
        for order in orders.into_iter().chain([Order::Reset, Order::Stop]) {
            assert_eq!(order.binding().unwrap().action, Action::Order(order));
        }
    }

    #[test]
    fn the_page_is_told_what_it_needs() {
        let json = serde_json::to_value(KEY_TABLE[0]).unwrap();
        assert_eq!((&json["does"], &json["name"]), (&"hold".into(), &"forward".into()));
        assert_eq!((&json["codes"][0], &json["place"][2]), (&"KeyW".into(), &1.into()));
        let all = KEY_TABLE.iter().find(|row| row.name == "all").unwrap();
        assert_eq!(serde_json::to_value(all).unwrap()["target"], 0);
    }

    #[test]
    fn terminals_find_a_key_by_what_is_printed_on_it() {
        let action = |cap| Binding::in_terminal(cap).map(|row| row.action);
        assert_eq!(action("w"), Some(Action::Hold(Key::Forward)));
        assert_eq!(action("]"), Some(Action::Hold(Key::RollRight)));
        assert_eq!(action("Esc"), Some(Action::Order(Order::Stop)));
        assert_eq!(action("g"), Some(Action::Send(AutopilotRequest::All)));
        assert_eq!((action("Space"), action("x")), (None, None));
        assert_eq!(orders_in_words(&[Order::Save, Order::Success], ", "), "→ save, Enter success");
    }
}
