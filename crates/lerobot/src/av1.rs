//! Whether the samples of an AV1 film can be AV1: each is a row of open bitstream units whose sizes
//! add up (AV1 specification, section 5.3). Nothing is decoded.

use citrange_video::mp4::Movie;

/// Unit kinds (section 6.2.2).
const SEQUENCE_HEADER: u8 = 1;
const FRAME_HEADER: u8 = 3;
const FRAME: u8 = 6;
const TILE_LIST: u8 = 8;

/// Names the first sample of an AV1 film that is none; other films are let pass.
pub(crate) fn check(movie: &Movie) -> Result<(), String> {
    if movie.codec != "av1" {
        return Ok(());
    }
    let mut sample = Vec::new();
    for index in 0..movie.samples.len() {
        movie.read_sample(index, &mut sample).map_err(|e| e.to_string())?;
        let key = movie.samples[index].key;
        units(&sample, key).map_err(|what| format!("sample {index} is no AV1: {what}"))?;
    }
    Ok(())
}

fn units(mut sample: &[u8], key: bool) -> Result<(), &'static str> {
    let (mut sequence, mut frame) = (false, false);
    while let [head, rest @ ..] = sample {
        let kind = head >> 3 & 0x0f;
        if head & 0x81 != 0 {
            return Err("a reserved bit is set");
        }
        // 8 is for large scale tiles, 9 to 14 are reserved: no camera's film has them.
        if kind == 0 || (TILE_LIST..15).contains(&kind) {
            return Err("a unit of a kind that is not known");
        }
        let mut rest = rest;
        if head & 0x04 != 0 {
            rest = rest.split_first().ok_or("a unit is cut off")?.1;
        }
        let length = if head & 0x02 != 0 { leb128(&mut rest)? } else { rest.len() };
        sample = rest.get(length..).ok_or("a unit is longer than its sample")?;
        sequence |= kind == SEQUENCE_HEADER;
        frame |= kind == FRAME_HEADER || kind == FRAME;
    }
    match (frame, key && !sequence) {
        (false, _) => Err("it has no frame"),
        (_, true) => Err("a key frame without a sequence header"),
        _ => Ok(()),
    }
}

/// A length of at most 8 bytes, 7 bits each.
fn leb128(bytes: &mut &[u8]) -> Result<usize, &'static str> {
    let mut value = 0u64;
    for shift in (0..56).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or("a length is cut off")?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(value).map_err(|_| "an impossible length");
        }
    }
    Err("a length does not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_must_add_up() {
        // Temporal delimiter, sequence header of 2 bytes, frame of 3.
        let key = [0x12, 0, 0x0a, 2, 9, 9, 0x32, 3, 1, 2, 3];
        assert_eq!(units(&key, true), Ok(()));
        assert_eq!(units(&key[..2], false), Err("it has no frame"));
        assert!(units(&key[6..], true).is_err() && units(&key[6..], false).is_ok());
        for cut in 1..key.len() {
            assert!(units(&key[..cut], false).is_err(), "{cut}");
        }
        let mut rng = citrange_core::rng::Rng::new(1);
        let mut pass = 0;
        for _ in 0..2000 {
            let bytes: Vec<u8> = (0..200).map(|_| rng.next_u64() as u8).collect();
            pass += usize::from(units(&bytes, false).is_ok());
        }
        assert!(pass < 100, "{pass} of 2000 random samples pass");
    }
}
