//! LZF, the packing of `.pcd` files: literal runs and copies of what was written before.

/// Unpacks to exactly `size` bytes; `None` if the input is cut off, copies from before its
/// beginning, or makes more or fewer.
pub(super) fn unpack(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    // Three packed bytes make at most 264: a size beyond that is a lie.
    if size > packed.len().saturating_mul(88) {
        return None;
    }
    let mut out = Vec::with_capacity(size);
    let mut bytes = packed.iter().copied();
    while let Some(control) = bytes.next() {
        let control = usize::from(control);
        if control < 32 {
            // A run of 1 to 32 bytes as they are.
            for _ in 0..=control {
                out.push(bytes.next()?);
            }
        } else {
            // A copy of 3 to 264 bytes from up to 8192 back; it may overlap with itself.
            let mut length = control >> 5;
            if length == 7 {
                length += usize::from(bytes.next()?);
            }
            let back = ((control & 31) << 8) + usize::from(bytes.next()?) + 1;
            let from = out.len().checked_sub(back)?;
            for i in 0..length + 2 {
                out.push(out[from + i]);
            }
        }
        if out.len() > size {
            return None;
        }
    }
    (out.len() == size).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_copies() {
        // "abc", then 9 bytes from 3 back: the copy overlaps with what it writes.
        assert_eq!(unpack(&[2, b'a', b'b', b'c', 0xe0, 0, 2], 12).unwrap(), b"abcabcabcabc");
        assert_eq!(unpack(&[0, b'z', 0x20, 0], 4).unwrap(), b"zzzz");
    }

    #[test]
    fn lies_are_refused() {
        assert_eq!(unpack(&[0, b'z', 0x20, 1], 4), None, "from before the beginning");
        assert_eq!(unpack(&[5, b'z'], 6), None, "cut off");
        assert_eq!(unpack(&[0, b'z'], 2), None, "fewer than said");
        assert_eq!(unpack(&[1, b'z', b'z'], 1), None, "more than said");
        assert_eq!(unpack(&[0, b'z'], usize::MAX), None, "no memory is taken for a lie");
    }
}
