//! The kind of an error decides the exit code: the same fault is the same kind whoever meets it.

mod common;

use std::io;
use std::path::PathBuf;

use citrange_cell::CellError;
use citrange_cloud::CloudError;
use citrange_core::run::RunError;
use citrange_core::{Classified, ErrorKind};
use citrange_episodes::EpisodesError;
use citrange_hdf5::Hdf5Error;
use citrange_lerobot::LerobotError;
use citrange_plan::PlanError;
use citrange_report::ReportError;
use citrange_settings::SettingsError;
use citrange_space::SpaceError;
use citrange_tape::TapeError;
use citrange_video::VideoError;

/// The same refusal of the system, as every part of the program hands it on.
fn everywhere(kind: io::ErrorKind) -> Vec<Box<dyn Classified>> {
    let io = || io::Error::from(kind);
    let path = || PathBuf::from("x");
    let tape = || TapeError::File { what: "write", path: path(), reason: io() };
    let lerobot = || LerobotError::Io { what: "write", path: path(), source: io() };
    let hdf5 = || Hdf5Error::Io { doing: "write", path: path(), source: io() };
    let space = || SpaceError::Io { path: "x".into(), cause: io() };
    let cloud = || CloudError::Io { path: "x".into(), cause: io() };
    let video = || VideoError::Io { doing: "write", path: path(), source: io() };
    let cell = || CellError::File { what: "cannot write", path: path(), source: io() };
    let run = RunError::Tape { tick: 3, fault: Box::new(tape()) };
    vec![
        Box::new(io()),
        Box::new(tape()),
        Box::new(EpisodesError::from(io())),
        Box::new(EpisodesError::from(lerobot())),
        Box::new(TapeError::LeRobot(lerobot())),
        Box::new(TapeError::LeRobot(LerobotError::Side(Box::new(tape())))),
        Box::new(EpisodesError::from(hdf5())),
        Box::new(TapeError::Hdf5(hdf5())),
        Box::new(EpisodesError::from(video())),
        Box::new(TapeError::Video(video())),
        Box::new(space()),
        Box::new(cloud()),
        Box::new(SpaceError::Cloud(cloud())),
        Box::new(PlanError::Space(space())),
        Box::new(EpisodesError::from(PlanError::Space(space()))),
        Box::new(EpisodesError::from(run)),
        Box::new(ReportError::File { what: "write", path: path(), reason: io() }),
        Box::new(cell()),
        Box::new(CellError::Body { frame: path(), source: Box::new(cell()) }),
        Box::new(SettingsError::File { path: path(), reason: io() }),
    ]
}

#[test]
fn the_same_fault_has_the_same_code_everywhere() {
    use io::ErrorKind as Io;
    for (refused, right) in [
        (Io::StorageFull, ErrorKind::Failed),
        (Io::QuotaExceeded, ErrorKind::Failed),
        (Io::PermissionDenied, ErrorKind::Failed),
        (Io::NotFound, ErrorKind::BadInput),
        (Io::AlreadyExists, ErrorKind::BadInput),
    ] {
        for (number, error) in everywhere(refused).iter().enumerate() {
            assert_eq!(error.kind(), right, "{refused:?}, error {number}");
        }
    }
}

#[test]
fn what_was_found_or_asked_for_is_no_failure() {
    assert_eq!(EpisodesError::ProblemsFound("2 of 3".into()).kind(), ErrorKind::ProblemsFound);
    assert_eq!(EpisodesError::Interrupted.kind(), ErrorKind::Interrupted);
    assert_eq!(EpisodesError::Usage("give one".into()).kind(), ErrorKind::Usage);
    assert_eq!(TapeError::Missing("episode 9".into()).kind(), ErrorKind::BadInput);
    assert_eq!(TapeError::Busy("set".into()).kind(), ErrorKind::Failed);
}

/// What went wrong is told with where, down to the system's reason, and decides the code.
#[test]
fn an_error_is_told_to_its_end() {
    let folder = common::temp();
    let said = common::fails(folder.path(), "plan bench problems.json", 3);
    assert!(said.starts_with("citrange: ") && said.contains("problems.json"), "{said}");
    std::fs::write(folder.path().join("cloud.npz"), "").unwrap();
    let said = common::fails(folder.path(), "space run cloud.npz", 3);
    assert!(said.contains("cloud.npz"), "{said}");
    let words = "space simulate ur5_cell --camera depth -o cloud.npz";
    let said = common::fails(folder.path(), words, 3);
    assert!(said.contains("cannot create cloud.npz: "), "{said}");
}
