//! What a pilot asks for at a tick, and what a rig made of it.

/// Joint targets of one tick, of all arms one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// Positions to be at, in radians (metres for slides).
    pub pos: Vec<f64>,
    /// Velocities to have there, where the pilot knows them; else empty. Heard by rigs that take
    /// them ([`crate::RigSpec::takes_velocities`]).
    pub vel: Vec<f64>,
}

impl Command {
    /// To be at these positions; nothing is said about velocities.
    #[must_use]
    pub fn at(pos: &[f64]) -> Self {
        Self { pos: pos.to_vec(), vel: Vec::new() }
    }
}

/// What became of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commanded {
    /// Joint targets after the rig's limits.
    pub limited: Vec<f64>,
    /// Numbers that reached the actuators, one per actuator.
    pub executed: Vec<f64>,
    /// Digest of the complete state after each physics step of the tick (empty where a rig has
    /// no complete state, as real robots).
    pub digests: Vec<u64>,
}
