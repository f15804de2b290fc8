//! Pictures to H.264 and back, and the mp4 files around them.
