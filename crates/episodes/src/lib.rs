//! Episodes: record, collect, replay, verify, drive, import, export, film; for every Rig.
