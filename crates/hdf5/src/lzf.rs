//! h5py's own compression, LZF: literal runs and copies of what came before.

/// h5py's registered number for the filter.
pub(crate) const FILTER: u16 = 32000;
/// Copies reach this far back at most.
const WINDOW: usize = 1 << 13;

/// Unpacks a chunk; `most` bounds what may come out. The error says what is wrong with the bytes.
pub(crate) fn unpack(packed: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(most.min(packed.len().saturating_mul(4)));
    let mut rest = packed;
    let end = || "the LZF data ends in the middle of a run".to_owned();
    while let Some((&control, after)) = rest.split_first() {
        rest = after;
        let control = usize::from(control);
        if control < 32 {
            // A run of literals, one more than said.
            let (run, after) = rest.split_at_checked(control + 1).ok_or_else(end)?;
            out.extend_from_slice(run);
            rest = after;
        } else {
            // Three bits of length (7: more in a byte of its own), thirteen of distance.
            let mut length = control >> 5;
            let mut next = || {
                let (&byte, after) = rest.split_first().ok_or_else(end)?;
                rest = after;
                Ok::<usize, String>(usize::from(byte))
            };
            if length == 7 {
                length += next()?;
            }
            let back = ((control & 0x1f) << 8) + next()? + 1;
            debug_assert!(back <= WINDOW, "thirteen bits");
            let from = out.len().checked_sub(back).ok_or("an LZF copy begins before the data")?;
            // What is copied may overlap what it makes.
            for at in from..from + length + 2 {
                out.push(out[at]);
            }
        }
        if out.len() > most {
            return Err(format!("the LZF data is longer than its chunk of {most} bytes"));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_copies_come_back() {
        assert_eq!(unpack(&[2, b'a', b'b', b'c'], 9), Ok(b"abc".to_vec()));
        // Three more from two back, overlapping; then a long copy with its length in a byte.
        assert_eq!(unpack(&[1, b'a', b'b', 0x20, 1], 9), Ok(b"ababa".to_vec()));
        assert_eq!(unpack(&[0, b'x', 0xe0, 1, 0], 99), Ok(vec![b'x'; 11]));
        assert_eq!(unpack(&[], 0), Ok(vec![]));
    }

    #[test]
    fn damage_is_named_and_bounded() {
        for bad in [&[5, 1][..], &[0x20], &[0xe0, 1], &[0, 1, 0x20, 9]] {
            unpack(bad, 99).unwrap_err();
        }
        assert!(unpack(&[0, b'x', 0xe0, 255, 0], 99).unwrap_err().contains("longer"));
    }
}
