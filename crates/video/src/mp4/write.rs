//! Writing a film: index first, then the samples.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::boxes::{put, put_full, put_words};
use super::{Format, SampleInfo};
use crate::VideoError;

/// Time units per frame.
const STEP: u32 = 512;

const IDENTITY: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];

/// Writes a film to `path` and waits until it is on the disk. `read(i, buffer)` is called once per
/// sample in order, and puts exactly the bytes of sample `i` into the empty buffer.
///
/// The caller gives a temporary name and renames.
///
/// # Errors
/// When the file cannot be written, `read` fails or gives another number of bytes than promised,
/// the first sample is no key frame, or the film would be too long for the format.
pub fn write(
    path: &Path,
    format: &Format,
    samples: &[SampleInfo],
    read: impl FnMut(usize, &mut Vec<u8>) -> Result<(), VideoError>,
) -> Result<(), VideoError> {
    write_in_order(path, format, samples, None, read)
}

/// Like [`write`]; `order[i]` is the frame that sample `i` shows, where B-frames mix them.
pub(crate) fn write_in_order(
    path: &Path,
    format: &Format,
    samples: &[SampleInfo],
    order: Option<&[u32]>,
    mut read: impl FnMut(usize, &mut Vec<u8>) -> Result<(), VideoError>,
) -> Result<(), VideoError> {
    let unwritable = |what: &str| VideoError::Unwritable { what: what.into(), path: path.into() };
    if !samples.first().is_some_and(|first| first.key) {
        return Err(unwritable("it must begin with a key frame"));
    }
    if format.fps == 0 || format.fps > u32::MAX / STEP {
        return Err(unwritable("its frames per second must be from 1 to 8388607"));
    }
    if samples.len() >= (u32::MAX / STEP) as usize {
        return Err(unwritable("it has more than 8388606 frames"));
    }
    let order = order.filter(|order| order.iter().enumerate().any(|(i, &at)| i as u32 != at));
    let mut head = Vec::new();
    put(&mut head, b"ftyp", |out| {
        out.extend(b"isom\0\0\x02\0isomiso2avc1mp41");
    });
    // The index holds where the samples begin, which depends on how long the index is.
    let moov = |data_at| moov(format, samples, order, data_at);
    let data_at = (head.len() + moov(0).len() + 16) as u64;
    head.extend(moov(data_at));
    let data_bytes: u64 = samples.iter().map(|sample| u64::from(sample.size)).sum();
    head.extend(1u32.to_be_bytes());
    head.extend(b"mdat");
    head.extend((data_bytes + 16).to_be_bytes());

    let file = File::create(path).map_err(VideoError::io("create", path))?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    out.write_all(&head).map_err(VideoError::io("write", path))?;
    let mut buffer = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        buffer.clear();
        read(index, &mut buffer)?;
        if buffer.len() as u64 != u64::from(sample.size) {
            let (size, found) = (sample.size, buffer.len());
            return Err(unwritable(&format!(
                "sample {index} was announced with {size} bytes and came with {found}"
            )));
        }
        out.write_all(&buffer).map_err(VideoError::io("write", path))?;
    }
    let file = out.into_inner().map_err(|e| VideoError::io("write", path)(e.into_error()))?;
    file.sync_all().map_err(VideoError::io("write", path))
}

/// Frames of delay until shown order and decoding order fit.
fn delay(order: &[u32]) -> u32 {
    order.iter().enumerate().map(|(i, &at)| (i as u32).saturating_sub(at)).max().unwrap_or(0)
}

fn moov(format: &Format, samples: &[SampleInfo], order: Option<&[u32]>, data_at: u64) -> Vec<u8> {
    let timescale = format.fps * STEP;
    let duration = samples.len() as u32 * STEP;
    let mut out = Vec::new();
    put(&mut out, b"moov", |out| {
        put_full(out, b"mvhd", 0, |out| {
            put_words(out, [0, 0, timescale, duration, 0x1_0000]); // dates, rate 1
            put_words(out, [0x100 << 16, 0, 0]); // volume 1
            put_words(out, IDENTITY);
            put_words(out, [0, 0, 0, 0, 0, 0, 2]); // next track
        });
        put(out, b"trak", |out| {
            // Enabled, in the film.
            put_full(out, b"tkhd", 3, |out| {
                put_words(out, [0, 0, 1, 0, duration, 0, 0, 0, 0]);
                put_words(out, IDENTITY);
                put_words(out, [format.width << 16, format.height << 16]);
            });
            if let Some(order) = order {
                put(out, b"edts", |out| {
                    put_full(out, b"elst", 0, |out| {
                        put_words(out, [1, duration, delay(order) * STEP, 0x1_0000]);
                    });
                });
            }
            put(out, b"mdia", |out| {
                put_full(out, b"mdhd", 0, |out| {
                    put_words(out, [0, 0, timescale, duration, 0x55c4 << 16]); // language "und"
                });
                put_full(out, b"hdlr", 0, |out| {
                    out.extend([0; 4]);
                    out.extend(b"vide");
                    out.extend([0; 12]);
                    out.extend(b"VideoHandler\0");
                });
                put(out, b"minf", |out| {
                    put_full(out, b"vmhd", 1, |out| put_words(out, [0, 0]));
                    put(out, b"dinf", |out| {
                        put_full(out, b"dref", 0, |out| {
                            put_words(out, [1]);
                            put_full(out, b"url ", 1, |_| {}); // in this file
                        });
                    });
                    put(out, b"stbl", |out| tables(out, format, samples, order, data_at));
                });
            });
        });
    });
    out
}

fn tables(
    out: &mut Vec<u8>,
    format: &Format,
    samples: &[SampleInfo],
    order: Option<&[u32]>,
    data_at: u64,
) {
    let count = samples.len() as u32;
    put_full(out, b"stsd", 0, |out| {
        put_words(out, [1]);
        out.extend(&format.sample_entry);
    });
    put_full(out, b"stts", 0, |out| put_words(out, [1, count, STEP]));
    if let Some(order) = order {
        let delay = delay(order);
        put_full(out, b"ctts", 0, |out| {
            put_words(out, [count]);
            for (i, &at) in order.iter().enumerate() {
                put_words(out, [1, (at + delay - i as u32) * STEP]);
            }
        });
    }
    put_full(out, b"stss", 0, |out| {
        let keys = samples.iter().zip(1..).filter(|(sample, _)| sample.key);
        put_words(out, [keys.clone().count() as u32]);
        put_words(out, keys.map(|(_, number)| number));
    });
    // All samples are one chunk.
    put_full(out, b"stsc", 0, |out| put_words(out, [1, 1, count, 1]));
    put_full(out, b"stsz", 0, |out| {
        put_words(out, [0, count]);
        put_words(out, samples.iter().map(|sample| sample.size));
    });
    put_full(out, b"co64", 0, |out| {
        put_words(out, [1]);
        out.extend(data_at.to_be_bytes());
    });
}
