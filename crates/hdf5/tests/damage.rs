//! Damaged files give errors: no panic, no hang, and no more memory than a file can be worth.

use std::collections::BTreeMap;
use std::path::Path;

use citrange_core::rng::Rng;
use citrange_hdf5::{
    Array, Demo, Hdf5Error, Images, RobomimicDemo, RobomimicHeader, RobomimicWriter, Series,
    read_demo, read_robomimic, sniff, write_demo,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use tempfile::tempdir;

/// Reads all there is.
fn read_all(path: &Path) -> Result<(), Hdf5Error> {
    let pictures =
        |images: &Images| (0..images.frames()).try_for_each(|k| images.frame(k).map(drop));
    let series = |all: &BTreeMap<String, Series>| {
        all.values().filter_map(Series::images).try_for_each(pictures)
    };
    sniff(path)?;
    match read_demo(path) {
        Ok(demo) => {
            demo.cameras.values().try_for_each(pictures)?;
            series(&demo.observables)
        }
        Err(Hdf5Error::Layout { .. }) => {
            let file = read_robomimic(path)?;
            for k in 0..file.demos.len() {
                let demo = file.read_demo(k)?;
                series(&demo.obs)?;
                series(&demo.next_obs)?;
            }
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn samples(folder: &Path) -> Vec<Vec<u8>> {
    let images = Images::from_rgb(3, 2, 2, (0..36).collect()).unwrap();
    let path = folder.join("sample");
    let mut demo = Demo { model_xml: Some("<mujoco/>".into()), ..Demo::default() };
    demo.attrs.environment = Some("Stack".into());
    demo.attrs.success = Some(true);
    demo.actions = Some(Array::matrix(3, 2, vec![0.1; 6]).unwrap());
    demo.cameras.insert("front".into(), images.clone());
    write_demo(&path, &demo).unwrap();
    let ours = std::fs::read(&path).unwrap();
    let mut file = RobomimicWriter::create(&path, &RobomimicHeader::default()).unwrap();
    let mut demo = RobomimicDemo { actions: demo.actions, ..RobomimicDemo::default() };
    demo.obs.insert("front_image".into(), Series::Images(images));
    file.add(&demo).unwrap();
    file.add(&demo).unwrap();
    file.mask("train", &["demo_1"]).unwrap();
    file.finish().unwrap();
    let robomimic = std::fs::read(&path).unwrap();
    let earliest = include_bytes!("data/h5py_earliest.h5").to_vec();
    let latest = include_bytes!("data/h5py_latest.h5").to_vec();
    vec![ours, robomimic, earliest, latest]
}

/// Writes a file anew: overwriting one makes some file systems wait for the disk.
fn put(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).ok();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn cut_off_files_are_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("damaged");
    for (sample, bytes) in samples(folder.path()).iter().enumerate() {
        put(&path, bytes);
        read_all(&path).unwrap();
        for k in 0..200 {
            let length = bytes.len() * k / 200;
            put(&path, &bytes[..length]);
            assert!(read_all(&path).is_err(), "sample {sample} cut at {length}");
        }
    }
}

#[test]
fn flipped_bits_never_panic_and_never_ask_for_much_memory() {
    // An allocation beyond this aborts the test.
    let limit = Some(2 << 30);
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit }).unwrap();
    let folder = tempdir().unwrap();
    let path = folder.path().join("damaged");
    let mut rng = Rng::new(1);
    let mut refused = 0;
    for bytes in samples(folder.path()) {
        for round in 0..1500 {
            let mut damaged = bytes.clone();
            for _ in 0..=round % 6 {
                let at = rng.below(damaged.len());
                match rng.below(3) {
                    0 => damaged[at] ^= 1 << rng.below(8),
                    1 => damaged[at] = [0, 1, 0x7f, 0xff][rng.below(4)],
                    _ => {
                        let end = (at + 8).min(damaged.len());
                        damaged[at..end].fill(0xff);
                    }
                }
            }
            put(&path, &damaged);
            refused += usize::from(read_all(&path).is_err());
        }
    }
    // Raw numbers have no checksum, so some damage is invisible.
    assert!(refused > 500, "only {refused} of 6000 damaged files were refused");
}
