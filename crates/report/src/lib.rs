//! What a dataset of an autopilot shows, as one page to look at.
