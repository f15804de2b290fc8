//! LeRobotDataset v3.0 on disk: write, read, check, edit.
