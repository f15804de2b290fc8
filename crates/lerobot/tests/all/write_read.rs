//! What is saved is read back, and nothing half done is ever seen.

#[path = "support/synthetic.rs"]
mod synthetic;

use citrange_lerobot::{
    Column, Dataset, Feature, ImageStats, Info, LerobotError, NewEpisode, NewImages, Packing,
    Piece, rewrite,
};
use citrange_video::mp4::Movie;
use synthetic::{CAMERAS, LENGTHS, episode, info};

#[test]
fn three_episodes_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let written = synthetic::dataset(dir.path());
    let read = Dataset::open(written.root()).unwrap();
    assert_eq!(read.info(), written.info());
    assert_eq!(read.episodes(), written.episodes());
    assert_eq!(read.stats(), written.stats());
    assert_eq!(read.tasks(), ["pick the orange", "go home"]);
    assert_eq!(read.info().total_frames, LENGTHS.iter().sum::<usize>());
    assert_eq!(read.info().splits["train"], "0:3");
    let mut index = 0;
    for (number, length) in LENGTHS.into_iter().enumerate() {
        let data = read.read_episode(number).unwrap();
        assert_eq!(data.length, length);
        for (name, column) in synthetic::columns(number, length) {
            assert_eq!(data.column(&name), Some(&column), "{name}");
        }
        assert_eq!(data.timestamps()[3], (3.0f64 / 30.0) as f32);
        let counted: Vec<i64> = (index..index + length as i64).collect();
        assert_eq!(data.column("index"), Some(&Column::I64(counted)));
        index += length as i64;
        assert_eq!(data.column("task_index").unwrap().integers().unwrap()[0], number as i64 % 2);
        for key in CAMERAS {
            let video = read.video_of(number, key).unwrap();
            assert_eq!((video.first_frame, video.count), (0, length));
            assert_eq!(Movie::open(&video.path).unwrap().frame_count() as usize, length);
        }
    }
    // The videos were moved, not copied.
    assert_eq!(std::fs::read_dir(dir.path().join("scratch")).unwrap().count(), 0);
    assert!(read.read_episode(3).unwrap_err().to_string().contains("0 to 2"));
    let error = read.video_of(0, "nope").unwrap_err().to_string();
    assert!(error.contains("observation.images.front"), "{error}");
}

#[test]
fn older_files_are_not_touched_by_a_save() {
    let dir = tempfile::tempdir().unwrap();
    let mut set = synthetic::dataset(dir.path());
    let before = synthetic::contents(set.root());
    set.append(episode(&dir.path().join("scratch"), 3, 9)).unwrap();
    let after: std::collections::BTreeMap<_, _> =
        synthetic::contents(set.root()).into_iter().collect();
    for (name, bytes) in before {
        let kept = after[&name] == bytes;
        assert_eq!(kept, !name.starts_with("meta") || name.ends_with("tasks.parquet"), "{name:?}");
    }
    assert_eq!(Dataset::open(set.root()).unwrap().episodes().len(), 4);
}

#[test]
fn pictures_numbers_texts_and_matrices() {
    let dir = tempfile::tempdir().unwrap();
    let info = Info::new(
        None,
        10,
        vec![
            ("cam".into(), Feature::image(4, 4)),
            ("flag".into(), Feature::new("bool", &[1])),
            ("note".into(), Feature::new("string", &[1])),
            ("level".into(), Feature::new("uint8", &[2])),
            ("pose".into(), Feature::new("float64", &[2, 3])),
            ("half".into(), Feature::new("float16", &[1])),
        ],
    );
    let mut set = Dataset::create(dir.path().join("s"), info).unwrap();
    let mut stats = ImageStats::new();
    stats.add_rgb(&[7; 48], 4, 4);
    let png: Vec<Vec<u8>> = vec![vec![1, 2, 3], vec![], vec![9; 1000]];
    let columns = vec![
        ("flag".to_string(), Column::Bool(vec![true, false, true])),
        ("note".to_string(), Column::Text(vec!["a".into(), "".into(), "ü".into()])),
        ("level".to_string(), Column::I64(vec![0, 255, 1, 2, 3, 4])),
        ("pose".to_string(), Column::F64((0..18).map(f64::from).collect())),
        ("half".to_string(), Column::F32(vec![0.5, 1.0, -2.0])),
    ];
    let images = vec![NewImages { key: "cam".into(), png: png.clone(), stats }];
    let new = NewEpisode {
        task: "t".into(),
        length: 3,
        columns: columns.clone(),
        images,
        ..NewEpisode::default()
    };
    set.append(new).unwrap();
    let read = Dataset::open(set.root()).unwrap();
    let data = read.read_episode(0).unwrap();
    for (name, column) in &columns {
        assert_eq!(data.column(name), Some(column));
    }
    assert_eq!(data.column("cam"), Some(&Column::Png(png)));
    assert_eq!(read.episodes()[0].stats["pose"].mean.len(), 6);
    assert_eq!(read.stats()["level"].max, [3.0, 255.0]);
    assert!(!read.stats().contains_key("note"));
    assert!(read.info().video_path.is_none());
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut set = synthetic::dataset(dir.path());
    let before = synthetic::contents(set.root());
    let scratch = dir.path().join("scratch");
    let good = episode(&scratch, 3, 8);
    let mut cases: Vec<(NewEpisode, &str)> = Vec::new();
    let mut with = |change: &dyn Fn(&mut NewEpisode), message: &'static str| {
        let mut new = good.clone();
        change(&mut new);
        cases.push((new, message));
    };
    with(&|e| e.task = " ".into(), "task text");
    with(&|e| e.length = 0, "at least one frame");
    with(&|e| e.length = 9, "24 values; 9 frames of 3");
    with(&|e| drop(e.columns.pop()), "\"action\" is missing");
    with(&|e| e.columns[0].0 = "nope".into(), "\"nope\" is not a feature");
    with(&|e| e.columns[1].0 = "index".into(), "\"index\" is not a feature");
    with(&|e| e.columns[0].1 = Column::I64(vec![0; 24]), "integers do not fit");
    with(&|e| e.columns[0].1 = Column::F64(vec![f64::NAN; 24]), "not finite at frame 0");
    with(&|e| e.videos[1].path = "/nowhere/at/all.mp4".into(), "/nowhere/at/all.mp4");
    with(&|e| e.videos[0].stats = ImageStats::new(), "no statistics");
    with(&|e| e.videos[1].key = e.videos[0].key.clone(), "given twice");
    for (new, message) in cases {
        let error = set.append(new).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let short = episode(&scratch, 4, 7);
    let mut wrong = good.clone();
    wrong.videos = short.videos;
    let error = set.append(wrong).unwrap_err().to_string();
    assert!(error.contains("7 frames; the episode has 8"), "{error}");
    assert_eq!(synthetic::contents(set.root()), before);
    assert_eq!(set.append(good).unwrap(), 3);
}

#[test]
fn disagreement_names_every_difference() {
    let dir = tempfile::tempdir().unwrap();
    let set = synthetic::dataset(dir.path());
    let mut other = info();
    other.fps = 15;
    other.features.0[1].1 = Feature::vector(&["pan.pos", "lift.pos", "grip.pos"]);
    let error = Dataset::open_or_create(set.root(), other).unwrap_err();
    let LerobotError::Disagrees { differences, .. } = &error else { panic!("{error}") };
    assert_eq!(differences.len(), 2, "{differences:?}");
    assert!(error.to_string().contains("ours 15, theirs 30"), "{error}");
}

#[test]
fn two_writers_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = synthetic::dataset(dir.path());
    let mut second = Dataset::open(first.root()).unwrap();
    let scratch = dir.path().join("scratch");
    first.append(episode(&scratch, 3, 6)).unwrap();
    let error = second.append(episode(&scratch, 4, 6)).unwrap_err().to_string();
    assert!(error.contains("changed by another process"), "{error}");
    assert_eq!(Dataset::open(first.root()).unwrap().episodes().len(), 4);
}

#[test]
fn what_is_no_dataset_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("x");
    let open = |what: &str| {
        let error = Dataset::open(&root).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    open("no such folder");
    std::fs::create_dir_all(root.join("meta")).unwrap();
    open("meta/info.json is missing");
    std::fs::write(root.join("meta/info.json"), "{\"codebase_version\": \"v2.1\"}").unwrap();
    open("convert_dataset_v21_to_v30");
    std::fs::write(root.join("meta/info.json"), "{").unwrap();
    open("info.json is damaged");
    let set = synthetic::dataset(dir.path());
    let data = set.root().join("data/chunk-000/file-001.parquet");
    let bytes = std::fs::read(&data).unwrap();
    std::fs::write(&data, &bytes[..bytes.len() / 2]).unwrap();
    let error = set.read_episode(1).unwrap_err().to_string();
    assert!(error.contains("file-001.parquet") && error.contains("parquet file"), "{error}");
    std::fs::remove_file(&data).unwrap();
    let error = set.read_episode(1).unwrap_err().to_string();
    assert!(error.contains("cannot open") && error.contains("file-001.parquet"), "{error}");
    assert!(set.read_episode(2).is_ok());
}

fn number(n: usize) -> NewEpisode {
    let columns = vec![("x".to_string(), Column::F32(vec![n as f32]))];
    NewEpisode { task: "t".into(), length: 1, columns, ..NewEpisode::default() }
}

#[test]
fn files_roll_over_into_chunks_and_meta_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut info = Info::new(None, 10, vec![("x".into(), Feature::new("float32", &[1]))]);
    info.chunks_size = 2;
    let mut set = Dataset::create(dir.path().join("s"), info).unwrap();
    for n in 0..5 {
        set.append(number(n)).unwrap();
    }
    let files: Vec<_> = set.episodes().iter().map(|e| (e.data.chunk, e.data.file)).collect();
    assert_eq!(files, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]);
    // A meta file is full with 500 rows.
    let pieces = vec![Piece::whole(&set, 1).unwrap(); 500];
    let out = dir.path().join("many");
    let mut many = rewrite(&pieces, &out, Packing::Packed, &mut |_, _| {}).unwrap();
    many.append(number(500)).unwrap();
    // Opened again, rows are still written where they belong.
    let mut many = Dataset::open(&out).unwrap();
    many.append(number(501)).unwrap();
    let read = Dataset::open(&out).unwrap();
    assert!(read.episodes() == many.episodes());
    let place = |n: usize| {
        let e = &read.episodes()[n];
        (e.data.chunk, e.data.file, e.meta.chunk, e.meta.file)
    };
    assert_eq!(place(499), (0, 0, 0, 0));
    assert_eq!(place(500), (0, 1, 0, 1));
    assert_eq!(place(501), (1, 0, 0, 1));
    let data = read.read_episode(501).unwrap();
    assert_eq!(data.column("x"), Some(&Column::F32(vec![501.0])));
    assert!((read.stats()["x"].mean[0] - 1501.0 / 502.0).abs() < 1e-9);
}
