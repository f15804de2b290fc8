//! Episodes on disk: the durable log, recording, repair, restore levels, replay.
