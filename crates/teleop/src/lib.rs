//! A person drives an arm: keys, the driver lock, the dead-man switch, shared control.
