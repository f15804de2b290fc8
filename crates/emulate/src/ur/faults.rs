//! What can be ordered of an emulated UR: what goes wrong, and what a person at its pendant does.

/// What can be ordered.
pub const UR_ORDERS: &str = "look; scale FRACTION (speed slider); program on|off; safety MODE; \
    stall, short, free (does the arm follow?); mute on|off (results); order alpha|model|random, \
    drop JOINT, nan pos|vel|off, stamp SECONDS, whole (joint states); hang SECONDS; camera on|off; \
    leave, back (the driver)";

/// In which order joints are published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// As drivers do: their controller has them sorted.
    #[default]
    Alphabetical,
    /// From the base on.
    Model,
    /// Another one every time.
    Random,
}

/// Whether the arm follows its controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Follows {
    /// It does.
    #[default]
    Yes,
    /// It stands still.
    Stalled,
    /// It stops before the end.
    Short,
}

/// Which values are no numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NotNumbers {
    /// None.
    #[default]
    None,
    /// A position.
    Position,
    /// All velocities.
    Velocities,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Faults {
    pub(super) scale: f64,
    pub(super) program_runs: bool,
    pub(super) safety_mode: i8,
    pub(super) follows: Follows,
    pub(super) is_mute: bool,
    pub(super) order: Order,
    pub(super) drops: Vec<String>,
    pub(super) not_numbers: NotNumbers,
    pub(super) stamp_s: f64,
    pub(super) camera_stands: bool,
    /// The driver does nothing for so long.
    pub(super) hang_s: f64,
    pub(super) is_away: bool,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            scale: 1.0,
            program_runs: true,
            safety_mode: 1,
            follows: Follows::Yes,
            is_mute: false,
            order: Order::Alphabetical,
            drops: Vec::new(),
            not_numbers: NotNumbers::None,
            stamp_s: 0.0,
            camera_stands: false,
            hang_s: 0.0,
            is_away: false,
        }
    }
}

impl Faults {
    /// Does what an order says.
    pub(super) fn order(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| {
            let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| format!("\"{word}\" is no number in \"{line}\""))
        };
        match words.as_slice() {
            [] | ["look"] => {}
            ["scale", fraction] => self.scale = number(fraction)?.clamp(0.0, 1.0),
            ["program", on @ ("on" | "off")] => self.program_runs = *on == "on",
            ["safety", mode] => self.safety_mode = number(mode)? as i8,
            ["stall"] => self.follows = Follows::Stalled,
            ["short"] => self.follows = Follows::Short,
            ["free"] => self.follows = Follows::Yes,
            ["mute", on @ ("on" | "off")] => self.is_mute = *on == "on",
            ["order", "alpha"] => self.order = Order::Alphabetical,
            ["order", "model"] => self.order = Order::Model,
            ["order", "random"] => self.order = Order::Random,
            ["drop", joint] => self.drops.push((*joint).to_owned()),
            ["nan", "pos"] => self.not_numbers = NotNumbers::Position,
            ["nan", "vel"] => self.not_numbers = NotNumbers::Velocities,
            ["nan", "off"] => self.not_numbers = NotNumbers::None,
            ["stamp", seconds] => self.stamp_s = number(seconds)?,
            ["whole"] => {
                (self.order, self.not_numbers, self.stamp_s) = Default::default();
                self.drops.clear();
            }
            ["hang", seconds] => self.hang_s = number(seconds)?.clamp(0.0, 600.0),
            ["camera", on @ ("on" | "off")] => self.camera_stands = *on == "off",
            ["leave"] => self.is_away = true,
            ["back"] => self.is_away = false,
            _ => return Err(format!("\"{line}\" is no order; there are: {UR_ORDERS}")),
        }
        Ok(())
    }
}
