//! Films that are cut off or damaged: an answer, never a crash, never more memory than the file
//! justifies.

use std::path::Path;

use citrange_video::VideoError;
use citrange_video::mp4::{self, Movie, SampleInfo};

/// A film of seven samples with a little of everything, progressive.
fn progressive(path: &Path) -> Vec<u8> {
    let format = mp4::avc_format(64, 48, 30, &[1, 66, 0, 30, 0xff, 0xe1, 0, 1, 7, 1, 0, 1, 8]);
    let infos: Vec<_> = (0..7).map(|i| SampleInfo { size: 10 + i, key: i % 3 == 0 }).collect();
    mp4::write(path, &format, &infos, |i, buffer| {
        buffer.resize(10 + i, i as u8);
        Ok(())
    })
    .unwrap();
    std::fs::read(path).unwrap()
}

fn boxed(kind: &[u8; 4], inside: &[u8]) -> Vec<u8> {
    let mut out = (inside.len() as u32 + 8).to_be_bytes().to_vec();
    out.extend(kind);
    out.extend(inside);
    out
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Replaces the box at the end of a path of nested boxes.
fn replace(file: &[u8], path: &[&[u8; 4]], with: &[u8]) -> Vec<u8> {
    let mut out = vec![];
    let mut rest = file;
    while rest.len() >= 8 {
        let size = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        let size = if size == 1 { rest.len() } else { size };
        if &rest[4..8] != path[0] {
            out.extend(&rest[..size]);
        } else if path.len() == 1 {
            out.extend(with);
        } else {
            out.extend(boxed(path[0], &replace(&rest[8..size], &path[1..], with)));
        }
        rest = &rest[size..];
    }
    out
}

/// The same samples as two fragments; offsets fit, times continue.
fn fragmented(path: &Path) -> Vec<u8> {
    let whole = progressive(path);
    const STBL: [&[u8; 4]; 5] = [b"moov", b"trak", b"mdia", b"minf", b"stbl"];
    let mut head = whole.clone();
    for (kind, table) in [
        (b"stts", words(&[0, 0])),
        (b"stsc", words(&[0, 0])),
        (b"stsz", words(&[0, 0, 0])),
        (b"co64", words(&[0, 0])),
        (b"stss", words(&[0, 0])),
    ] {
        let place: Vec<_> = STBL.into_iter().chain([kind]).collect();
        head = replace(&head, &place, &boxed(kind, &table));
    }
    head = replace(&head, &[b"mdat"], &[]);
    let mvex = boxed(b"mvex", &boxed(b"trex", &words(&[0, 1, 1, 512, 0, 0x1_0000])));
    let moov_at = u32::from_be_bytes(head[..4].try_into().unwrap()) as usize;
    let moov = [&head[moov_at + 8..], &mvex].concat();
    let mut out = [&head[..moov_at], &boxed(b"moov", &moov)].concat();
    for (first, count) in [(0u32, 4u32), (4, 3)] {
        let sizes: Vec<u32> = (first..first + count).map(|i| 10 + i).collect();
        let fragment = |data_offset: u32| {
            let tfhd = boxed(b"tfhd", &words(&[0x2_0000, 1]));
            let tfdt = boxed(b"tfdt", &words(&[0, 512 * first]));
            // Data offset, flags of the first sample, sizes.
            let run = [&[0x205, count, data_offset, 0][..], &sizes].concat();
            let traf = boxed(b"traf", &[tfhd, tfdt, boxed(b"trun", &words(&run))].concat());
            boxed(b"moof", &[boxed(b"mfhd", &words(&[0, 1 + first])), traf].concat())
        };
        let moof = fragment(fragment(0).len() as u32 + 8);
        let data: Vec<u8> =
            (first..first + count).flat_map(|i| vec![i as u8; 10 + i as usize]).collect();
        out.extend([moof, boxed(b"mdat", &data)].concat());
    }
    out
}

fn open(path: &Path, bytes: &[u8]) -> Result<Movie, VideoError> {
    // A new file each time: some file systems wait for the disk when one is overwritten.
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
    Movie::open(path)
}

#[test]
fn fragments_hold_the_same_film() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    let bytes = fragmented(&path);
    let movie = open(&path, &bytes).unwrap();
    assert_eq!(movie.frame_count(), 7);
    movie.is_constant_rate(30).unwrap();
    let keys: Vec<bool> = movie.samples.iter().map(|s| s.key).collect();
    assert_eq!(keys, [true, false, false, false, true, false, false]);
    let mut data = vec![];
    for i in 0..7 {
        movie.read_sample(i, &mut data).unwrap();
        assert_eq!(data, vec![i as u8; 10 + i]);
    }
}

#[test]
fn every_cut_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    let whole = progressive(&path);
    for length in 0..whole.len() {
        let error = open(&path, &whole[..length]).unwrap_err();
        assert!(matches!(error, VideoError::Damaged { .. }), "{length}: {error}");
    }
    let whole = fragmented(&path);
    let boundary = |length: usize| open(&path, &whole[..length]).map(|movie| movie.frame_count());
    let whole_films: Vec<u32> = (0..whole.len()).filter_map(|n| boundary(n).ok()).collect();
    // Only between two fragments a shorter film is a whole one.
    assert_eq!(whole_films, [4]);
}

#[test]
fn flipped_bits_are_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    for whole in [progressive(&path), fragmented(&path)] {
        let mut opened = 0;
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            opened += u32::from(check(&path, &bytes));
        }
        assert!(opened > 0, "dates and names may change");
        let mut rng = citrange_core::rng::Rng::new(7);
        let mut next = |below: usize| rng.below(below);
        for _ in 0..4000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + next(6) {
                let at = next(bytes.len());
                match next(4) {
                    0 => bytes[at] = 0xff,
                    1 => bytes[at] = 0,
                    2 => bytes.truncate(at.max(1)),
                    _ => bytes[at] ^= 1 << next(8),
                }
            }
            check(&path, &bytes);
        }
    }
}

/// Opens and reads all there is; whether it could be opened.
fn check(path: &Path, bytes: &[u8]) -> bool {
    let Ok(movie) = open(path, bytes) else { return false };
    assert!(movie.samples.len() <= bytes.len());
    let mut data = vec![];
    for i in 0..movie.samples.len() {
        movie.read_sample(i, &mut data).unwrap();
    }
    let _ = movie.is_constant_rate(movie.format.fps);
    true
}

#[test]
fn impossible_counts_do_not_cost_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    let whole = progressive(&path);
    let table = |kind, inside: &[u32]| {
        let place: [&[u8; 4]; 6] = [b"moov", b"trak", b"mdia", b"minf", b"stbl", kind];
        replace(&whole, &place, &boxed(kind, &words(inside)))
    };
    for (what, bytes) in [
        ("equal sizes", table(b"stsz", &[0, 1, u32::MAX])),
        ("sizes", table(b"stsz", &[0, 0, u32::MAX, 10])),
        ("times", table(b"stts", &[0, u32::MAX, 7, 512])),
        ("chunks", table(b"co64", &[0, u32::MAX, 0, 0])),
        ("keys", table(b"stss", &[0, u32::MAX, 1])),
        ("no chunk", table(b"stsc", &[0, 1, 2, 7, 1])),
        ("no time", table(b"stts", &[0, 1, 3, 512])),
        ("key 9 of 7", table(b"stss", &[0, 1, 9])),
        ("two entries", table(b"stsd", &[0, 2])),
    ] {
        let error = open(&path, &bytes).unwrap_err().to_string();
        assert!(error.ends_with("a.mp4"), "{what}: {error}");
    }
    // A fragment with four thousand million samples of one byte, and of none.
    for size in [0, 1] {
        let tfhd = boxed(b"tfhd", &words(&[0x2_0010, 1, size]));
        let trun = boxed(b"trun", &words(&[1, u32::MAX, 0]));
        let moof = boxed(b"moof", &boxed(b"traf", &[tfhd, trun].concat()));
        let bytes = [fragmented(&path), moof].concat();
        let error = open(&path, &bytes).unwrap_err().to_string();
        assert!(error.contains("impossible size"), "{error}");
    }
    // Boxes larger than the file.
    for (size, long) in [(u32::MAX, 0u64), (1, u64::MAX), (1, 1 << 40), (5, 0)] {
        let mut bytes = whole.clone();
        bytes.extend([&size.to_be_bytes()[..], b"moov", &long.to_be_bytes()].concat());
        assert!(matches!(open(&path, &bytes), Err(VideoError::Damaged { .. })), "{size} {long}");
    }
}

#[test]
fn other_files_are_no_films() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    for bytes in [&b""[..], b"hello", b"PK\x03\x04 a zip is no film", &[0; 40]] {
        assert!(matches!(open(&path, bytes), Err(VideoError::Damaged { .. })), "{bytes:?}");
    }
    let missing = folder.path().join("none.mp4");
    assert!(matches!(Movie::open(&missing), Err(VideoError::Io { doing: "open", .. })));
}
