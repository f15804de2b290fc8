//! The index of a progressive film: where each sample is and when it is shown.

use super::boxes::{Bytes, Kind, Parsed, damaged, find, need, word};
use super::movie::MovieSample;

/// Reads the tables of `stbl`. `file_bytes` bounds how many samples there can be.
pub(super) fn samples(stbl: &[(Kind, &[u8])], file_bytes: u64) -> Parsed<Vec<MovieSample>> {
    let mut samples = sizes(stbl, file_bytes)?;
    if samples.is_empty() {
        // Fragmented films have empty tables.
        return Ok(samples);
    }
    offsets(stbl, &mut samples)?;
    times(stbl, &mut samples)?;
    keys(stbl, &mut samples)?;
    Ok(samples)
}

fn sizes(stbl: &[(Kind, &[u8])], file_bytes: u64) -> Parsed<Vec<MovieSample>> {
    let Some(mut stsz) = find(stbl, b"stsz") else {
        return compact_sizes(need(stbl, b"stz2")?);
    };
    stsz.version()?;
    let all = stsz.u32()?;
    let sample = |size| MovieSample { size, ..MovieSample::default() };
    if all == 0 {
        return Ok(stsz.table(4)?.map(|entry| sample(word(entry, 0))).collect());
    }
    let count = stsz.u32()?;
    if u64::from(count) * u64::from(all) > file_bytes {
        return damaged(format!("{count} samples of {all} bytes are more than the file has"));
    }
    Ok(vec![sample(all); count as usize])
}

fn compact_sizes(mut stz2: Bytes<'_>) -> Parsed<Vec<MovieSample>> {
    stz2.version()?;
    let sample = |size| MovieSample { size, ..MovieSample::default() };
    match stz2.u32()? & 0xff {
        8 => Ok(stz2.table(1)?.map(|entry| sample(u32::from(entry[0]))).collect()),
        16 => {
            let wide = |entry: &[u8]| u32::from(entry[0]) << 8 | u32::from(entry[1]);
            Ok(stz2.table(2)?.map(|entry| sample(wide(entry))).collect())
        }
        bits => damaged(format!("box stz2 has sizes of {bits} bits; 8 and 16 are read")),
    }
}

fn offsets(stbl: &[(Kind, &[u8])], samples: &mut [MovieSample]) -> Parsed<()> {
    let chunks: Vec<u64> = if let Some(mut co64) = find(stbl, b"co64") {
        co64.version()?;
        let long = |entry: &[u8]| u64::from(word(entry, 0)) << 32 | u64::from(word(entry, 4));
        co64.table(8)?.map(long).collect()
    } else {
        let mut stco = need(stbl, b"stco")?;
        stco.version()?;
        stco.table(4)?.map(|entry| u64::from(word(entry, 0))).collect()
    };
    let mut stsc = need(stbl, b"stsc")?;
    stsc.version()?;
    let mut runs = stsc.table(12)?.map(|entry| (word(entry, 0), word(entry, 4))).peekable();
    let mut per_chunk = 0;
    let mut left = samples.iter_mut();
    for (number, &chunk) in (1..).zip(&chunks) {
        if let Some((_, samples)) = runs.next_if(|(first, _)| *first == number) {
            per_chunk = samples;
        }
        let mut offset = chunk;
        for sample in left.by_ref().take(per_chunk as usize) {
            sample.offset = offset;
            offset = offset.saturating_add(u64::from(sample.size));
        }
    }
    match left.len() {
        0 => Ok(()),
        n => damaged(format!("{n} samples are in no chunk")),
    }
}

fn times(stbl: &[(Kind, &[u8])], samples: &mut [MovieSample]) -> Parsed<()> {
    let mut stts = need(stbl, b"stts")?;
    stts.version()?;
    let mut left = samples.iter_mut();
    let mut now = 0i64;
    for entry in stts.table(8)? {
        let (count, step) = (word(entry, 0), word(entry, 4));
        for sample in left.by_ref().take(count as usize) {
            (sample.dts, sample.pts, sample.duration) = (now, now, step);
            // 2^32 samples of 2^32 units are far below the limit.
            now = now.saturating_add(i64::from(step));
        }
    }
    if left.len() > 0 {
        return damaged(format!("{} samples have no time", left.len()));
    }
    let Some(mut ctts) = find(stbl, b"ctts") else { return Ok(()) };
    ctts.version()?;
    let mut left = samples.iter_mut();
    for entry in ctts.table(8)? {
        // Signed in version 1; in version 0 nobody means 2^31 units and more.
        let shift = i64::from(word(entry, 4) as i32);
        for sample in left.by_ref().take(word(entry, 0) as usize) {
            sample.pts = sample.dts.saturating_add(shift);
        }
    }
    Ok(())
}

fn keys(stbl: &[(Kind, &[u8])], samples: &mut [MovieSample]) -> Parsed<()> {
    let Some(mut stss) = find(stbl, b"stss") else {
        samples.iter_mut().for_each(|sample| sample.key = true);
        return Ok(());
    };
    stss.version()?;
    let count = samples.len();
    for entry in stss.table(4)? {
        let number = word(entry, 0);
        match (number as usize).checked_sub(1).and_then(|index| samples.get_mut(index)) {
            Some(sample) => sample.key = true,
            None => return damaged(format!("key frame {number} of {count} does not exist")),
        }
    }
    Ok(())
}
