//! Edits: planned, applied, and the old dataset kept.

#[path = "support/synthetic.rs"]
mod synthetic;

use std::path::Path;

use citrange_lerobot::{
    Applied, CheckOptions, Column, Dataset, Edit, LerobotError, Packing, Piece, apply, check,
    default_trash, plan, rewrite,
};
use citrange_video::mp4::Movie;
use synthetic::{CAMERAS, LENGTHS};

fn no_side(
    _: &Path,
    _: &Path,
    _: &[citrange_lerobot::Origin],
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Ok(())
}

fn done(set: &Dataset, edit: &Edit) -> Applied {
    let plan = plan(set, edit).unwrap();
    apply(&plan, &default_trash(set.root()), &no_side, &mut |_, _| {}).unwrap()
}

fn sound(set: &Dataset) {
    let options = CheckOptions { deep: true, ..CheckOptions::default() };
    assert_eq!(check(set, &options, &mut |_, _| {}), []);
}

fn states(set: &Dataset, episode: usize) -> Column {
    set.read_episode(episode).unwrap().column("observation.state").unwrap().clone()
}

fn expected(source: usize, frames: std::ops::Range<usize>) -> Column {
    Column::F32(frames.flat_map(|f| synthetic::state(source, f)).collect())
}

#[test]
fn delete_links_what_stays_and_keeps_the_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let set = synthetic::dataset(dir.path());
    std::fs::write(set.root().join("README.md"), "mine").unwrap();
    let before = synthetic::contents(set.root());
    let plan = plan(&set, &Edit::Delete { episodes: vec![1] }).unwrap();
    assert_eq!((plan.before, plan.after), ((3, 63), (2, 37)));
    let text = plan.to_string();
    assert!(text.contains("episodes 3 -> 2, frames 63 -> 37"), "{text}");
    assert!(text.contains("4 linked, 0 cut"), "{text}");
    assert_eq!(synthetic::contents(set.root()), before, "a plan changes nothing");
    let mut steps = Vec::new();
    let applied =
        apply(&plan, &default_trash(set.root()), &no_side, &mut |d, t| steps.push((d, t))).unwrap();
    assert_eq!(steps, [(1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]);
    let new = applied.dataset;
    assert_eq!(new.episodes().len(), 2);
    assert_eq!(new.tasks(), ["pick the orange"]);
    assert_eq!(states(&new, 1), expected(2, 0..17));
    assert_eq!(std::fs::read_to_string(new.root().join("README.md")).unwrap(), "mine");
    sound(&new);
    assert_eq!(synthetic::contents(&applied.trash), before);
    sound(&Dataset::open(&applied.trash).unwrap());
    let left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|n| n.to_string_lossy().contains("edit")), "{left:?}");
}

#[test]
fn trim_cuts_the_videos_at_the_frame() {
    let dir = tempfile::tempdir().unwrap();
    let set = synthetic::dataset(dir.path());
    let edit = Edit::Trim { episode: 1, frames: 7..22 };
    let planned = plan(&set, &edit).unwrap();
    // Key frames every 5: frames 7, 8 and 9 of both cameras have to be encoded again.
    assert_eq!((planned.videos_linked, planned.videos_encoded, planned.frames_encoded), (4, 2, 6));
    let new = done(&set, &edit).dataset;
    assert_eq!(new.episodes()[1].length, 15);
    assert_eq!(states(&new, 1), expected(1, 7..22));
    assert_eq!(new.read_episode(1).unwrap().timestamps()[0], 0.0);
    for key in CAMERAS {
        let video = new.video_of(1, key).unwrap();
        assert_eq!(Movie::open(&video.path).unwrap().frame_count(), 15);
    }
    sound(&new);
}

#[test]
fn split_and_label_and_keep() {
    let dir = tempfile::tempdir().unwrap();
    let set = synthetic::dataset(dir.path());
    let new = done(&set, &Edit::Split { episode: 0, at: 10 }).dataset;
    let lengths: Vec<usize> = new.episodes().iter().map(|e| e.length).collect();
    assert_eq!(lengths, [10, 10, 26, 17]);
    assert_eq!(states(&new, 1), expected(0, 10..20));
    sound(&new);
    let new = done(&new, &Edit::Label { episodes: vec![1, 2], task: "stack".into() }).dataset;
    assert_eq!(new.episodes()[2].tasks, ["stack"]);
    assert_eq!(new.tasks(), ["pick the orange", "stack"]);
    sound(&new);
    let new = done(&new, &Edit::Keep { episodes: vec![3, 0] }).dataset;
    assert_eq!(states(&new, 0), expected(2, 0..17));
    sound(&new);
    let trash = std::fs::read_dir(default_trash(set.root())).unwrap().count();
    assert_eq!(trash, 3, "every old one is kept");
}

#[test]
fn impossible_edits_are_refused_before_anything_happens() {
    let dir = tempfile::tempdir().unwrap();
    let set = synthetic::dataset(dir.path());
    let cases = [
        (Edit::Delete { episodes: vec![3] }, "no episode 3; there are 0 to 2"),
        (Edit::Delete { episodes: vec![0, 1, 2] }, "nothing would be left"),
        (Edit::Delete { episodes: vec![1, 1] }, "named twice"),
        (Edit::Keep { episodes: vec![] }, "no episode is named"),
        (Edit::Trim { episode: 0, frames: 5..5 }, "frames 5..5"),
        (Edit::Trim { episode: 0, frames: 5..21 }, "it has 0..20"),
        (Edit::Trim { episode: 0, frames: 0..20 }, "already"),
        (Edit::Split { episode: 0, at: 0 }, "1 to 19 can"),
        (Edit::Split { episode: 0, at: 20 }, "1 to 19 can"),
        (Edit::Label { episodes: vec![0], task: " ".into() }, "task text is empty"),
    ];
    for (edit, message) in cases {
        let error = plan(&set, &edit).unwrap_err().to_string();
        assert!(error.contains(message), "{edit:?}: {error}");
    }
    let video = set.video_of(1, CAMERAS[0]).unwrap().path;
    std::fs::remove_file(&video).unwrap();
    let error = plan(&set, &Edit::Delete { episodes: vec![0] }).unwrap_err().to_string();
    assert!(error.contains("file-001.mp4"), "{error}");
}

#[test]
fn side_files_follow_or_stop_the_edit() {
    let dir = tempfile::tempdir().unwrap();
    let set = synthetic::dataset(dir.path());
    let before = synthetic::contents(set.root());
    let planned = plan(&set, &Edit::Delete { episodes: vec![0] }).unwrap();
    let trash = default_trash(set.root());
    let refuse = |_: &Path, _: &Path, _: &[citrange_lerobot::Origin]| Err("no snapshot".into());
    let error = apply(&planned, &trash, &refuse, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, LerobotError::Side(_)), "{error}");
    assert_eq!(synthetic::contents(set.root()), before);
    let carry = |old: &Path, new: &Path, origins: &[citrange_lerobot::Origin]| {
        assert!(old.join("meta/info.json").exists());
        std::fs::create_dir_all(new.join("citrange"))?;
        let list: Vec<usize> = origins.iter().map(|o| o.episode).collect();
        std::fs::write(new.join("citrange/from.txt"), format!("{list:?}"))?;
        Ok(())
    };
    let new = apply(&planned, &trash, &carry, &mut |_, _| {}).unwrap().dataset;
    assert_eq!(std::fs::read_to_string(new.root().join("citrange/from.txt")).unwrap(), "[1, 2]");
}

#[test]
fn a_plan_for_another_state_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut set = synthetic::dataset(dir.path());
    let planned = plan(&set, &Edit::Delete { episodes: vec![0] }).unwrap();
    set.append(synthetic::episode(&dir.path().join("scratch"), 3, 5)).unwrap();
    let error = apply(&planned, &default_trash(set.root()), &no_side, &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("changed since the plan"), "{error}");
}

#[test]
fn merge_and_pack_and_unpack() {
    let dir = tempfile::tempdir().unwrap();
    let a = synthetic::dataset(dir.path());
    let b = synthetic::make(&dir.path().join("b"), &dir.path().join("scratch"), &[8, 12]);
    let mut pieces: Vec<Piece<'_>> = (0..3).map(|e| Piece::whole(&a, e).unwrap()).collect();
    pieces.extend((0..2).map(|e| Piece::whole(&b, e).unwrap()));
    let packed =
        rewrite(&pieces, &dir.path().join("packed"), Packing::Packed, &mut |_, _| {}).unwrap();
    let lengths: Vec<usize> = packed.episodes().iter().map(|e| e.length).collect();
    assert_eq!(lengths, [LENGTHS.as_slice(), &[8, 12]].concat());
    assert_eq!(packed.tasks(), ["pick the orange", "go home"]);
    // One file of each kind.
    let count = |name: &str| {
        synthetic::contents(packed.root()).iter().filter(|(n, _)| n.starts_with(name)).count()
    };
    assert_eq!((count("data"), count("videos")), (1, 2));
    let video = packed.video_of(4, CAMERAS[1]).unwrap();
    assert_eq!((video.first_frame, video.count), (71, 12));
    assert_eq!(states(&packed, 3), expected(0, 0..8));
    sound(&packed);
    // Out of packed files again, one deleted in the middle.
    let new = done(&packed, &Edit::Delete { episodes: vec![1] }).dataset;
    assert_eq!(states(&new, 3), expected(1, 0..12));
    sound(&new);
    // Whole packed files stay together and are linked.
    let labelled = plan(&new, &Edit::Label { episodes: vec![0], task: "x".into() }).unwrap();
    assert_eq!(labelled.videos_cut + labelled.videos_encoded, 0);
    let exists = rewrite(&pieces, packed.root(), Packing::Packed, &mut |_, _| {}).unwrap_err();
    assert!(exists.to_string().contains("exists already"), "{exists}");
}

#[test]
fn datasets_that_differ_are_not_merged() {
    let dir = tempfile::tempdir().unwrap();
    let a = synthetic::dataset(dir.path());
    let mut info = synthetic::info();
    info.robot_type = Some("panda".into());
    let mut b = Dataset::create(dir.path().join("b"), info).unwrap();
    b.append(synthetic::episode(&dir.path().join("scratch"), 0, 5)).unwrap();
    let pieces = [Piece::whole(&a, 0).unwrap(), Piece::whole(&b, 0).unwrap()];
    let out = dir.path().join("out");
    let error = rewrite(&pieces, &out, Packing::PerEpisode, &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("ours panda, theirs so101"), "{error}");
    assert!(!out.exists());
}
