//! NAL units: the pieces that H.264 is made of, and the few of their bits that matter here.

use crate::VideoError;

/// Kinds of NAL units.
pub(crate) const SLICE: u8 = 1;
pub(crate) const KEY_SLICE: u8 = 5;
pub(crate) const SPS: u8 = 7;
pub(crate) const PPS: u8 = 8;

const START_CODE: [u8; 4] = [0, 0, 0, 1];

/// The kind of a unit, `None` where it is empty.
pub(crate) fn kind(unit: &[u8]) -> Option<u8> {
    unit.first().map(|byte| byte & 31)
}

/// Takes `00 00 01` or `00 00 00 01` off the front.
pub(crate) fn without_start_code(unit: &[u8]) -> &[u8] {
    match unit {
        [0, 0, 0, 1, rest @ ..] | [0, 0, 1, rest @ ..] => rest,
        _ => unit,
    }
}

/// An `avcC` payload with one parameter set of each kind and lengths of four bytes.
pub(crate) fn avc_config(sps: &[u8], pps: &[u8]) -> Vec<u8> {
    let mut config = vec![1];
    config.extend(sps.iter().skip(1).chain(&[0, 0, 0]).take(3));
    config.extend([0xff, 0xe1]);
    config.extend((sps.len() as u16).to_be_bytes());
    config.extend(sps);
    config.push(1);
    config.extend((pps.len() as u16).to_be_bytes());
    config.extend(pps);
    config
}

/// An `avcC` payload, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AvcConfig {
    /// Bytes of the length before each unit of a sample.
    length_bytes: usize,
    sps: Vec<Vec<u8>>,
    pps: Vec<Vec<u8>>,
}

impl AvcConfig {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, VideoError> {
        let bad = VideoError::AvcConfig;
        let [version, _, _, _, lengths, count, rest @ ..] = bytes else {
            return Err(bad("it has fewer than seven bytes"));
        };
        if *version != 1 {
            return Err(bad("its version is not 1"));
        }
        let length_bytes = usize::from(lengths & 3) + 1;
        if length_bytes == 3 {
            return Err(bad("lengths of three bytes do not exist"));
        }
        let mut rest = rest;
        let sps = take_units(&mut rest, usize::from(count & 31))?;
        let (&count, tail) = rest.split_first().ok_or(bad("it ends before the PPS"))?;
        rest = tail;
        let pps = take_units(&mut rest, usize::from(count))?;
        if sps.is_empty() || pps.is_empty() {
            return Err(bad("it has no parameter sets"));
        }
        Ok(Self { length_bytes, sps, pps })
    }

    /// Writes the parameter sets as the decoder wants them.
    pub(crate) fn write_parameter_sets(&self, out: &mut Vec<u8>) {
        for unit in self.sps.iter().chain(&self.pps) {
            out.extend_from_slice(&START_CODE);
            out.extend_from_slice(unit);
        }
    }

    /// Writes a sample as the decoder wants it.
    pub(crate) fn write_sample(&self, sample: &[u8], out: &mut Vec<u8>) -> Result<(), VideoError> {
        for unit in self.units(sample) {
            out.extend_from_slice(&START_CODE);
            out.extend_from_slice(unit?);
        }
        Ok(())
    }

    fn units<'a>(
        &self,
        mut rest: &'a [u8],
    ) -> impl Iterator<Item = Result<&'a [u8], VideoError>> + use<'a> {
        let length_bytes = self.length_bytes;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let cut = rest.split_at_checked(length_bytes).and_then(|(length, tail)| {
                let length = length.iter().fold(0usize, |n, &byte| n << 8 | usize::from(byte));
                tail.split_at_checked(length)
            });
            Some(match cut {
                Some((unit, tail)) => {
                    rest = tail;
                    Ok(unit)
                }
                None => {
                    rest = &[];
                    Err(VideoError::Decode("a sample ends inside a NAL unit".into()))
                }
            })
        })
    }

    /// What a key frame's first slice says about itself; `None` where it cannot be read.
    pub(crate) fn key_slice(&self, sample: &[u8]) -> Option<KeySlice> {
        let sps = SpsBits::parse(self.sps.first()?)?;
        let init_qp = pps_init_qp(self.pps.first()?)?;
        let slice = self.units(sample).flatten().find(|unit| kind(unit) == Some(KEY_SLICE))?;
        let mut bits = Bits::new(slice.get(1..)?);
        let _first_macroblock = bits.ue()?;
        let _slice_type = bits.ue()?;
        let _pps_id = bits.ue()?;
        let _frame_num = bits.u(sps.frame_num_bits)?;
        let idr_pic_id = bits.ue()?;
        if let Some(poc_bits) = sps.poc_bits {
            bits.u(poc_bits)?;
        }
        let _marking = bits.u(2)?;
        let qp = init_qp.checked_add(bits.se()?)?;
        Some(KeySlice { idr_pic_id, qp: u8::try_from(qp).ok()? })
    }
}

/// What the header of a key frame's first slice says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeySlice {
    /// Two key frames in a row must not have the same.
    pub(crate) idr_pic_id: u32,
    /// Quantisation.
    pub(crate) qp: u8,
}

fn take_units(rest: &mut &[u8], count: usize) -> Result<Vec<Vec<u8>>, VideoError> {
    (0..count)
        .map(|_| {
            let short = VideoError::AvcConfig("it ends inside a parameter set");
            let Some((length, tail)) = rest.split_first_chunk::<2>() else { return Err(short) };
            let length = usize::from(u16::from_be_bytes(*length));
            let Some((unit, tail)) = tail.split_at_checked(length) else { return Err(short) };
            *rest = tail;
            Ok(unit.to_vec())
        })
        .collect()
}

/// How long two fields of slice headers are. Baseline and main profile only.
struct SpsBits {
    frame_num_bits: u32,
    poc_bits: Option<u32>,
}

impl SpsBits {
    fn parse(sps: &[u8]) -> Option<Self> {
        let (&[_, profile, _, _], rest) = sps.split_first_chunk::<4>()?;
        if !matches!(profile, 66 | 77 | 88) {
            return None;
        }
        let mut bits = Bits::new(rest);
        let _id = bits.ue()?;
        let frame_num_bits = bits.ue()?.checked_add(4).filter(|n| *n <= 16)?;
        let poc_bits = match bits.ue()? {
            0 => Some(bits.ue()?.checked_add(4).filter(|n| *n <= 16)?),
            2 => None,
            _ => return None,
        };
        Some(Self { frame_num_bits, poc_bits })
    }
}

fn pps_init_qp(pps: &[u8]) -> Option<i32> {
    let mut bits = Bits::new(pps.get(1..)?);
    let _ids = (bits.ue()?, bits.ue()?);
    let _entropy_and_order = bits.u(2)?;
    if bits.ue()? != 0 {
        return None; // slice groups
    }
    let _references = (bits.ue()?, bits.ue()?);
    let _weighted = bits.u(3)?;
    bits.se()?.checked_add(26)
}

/// Reads bits, and steps over the bytes that keep start codes out of the data.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    zeros: u32,
    current: u8,
    left: u32,
}

impl<'a> Bits<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, zeros: 0, current: 0, left: 0 }
    }

    fn bit(&mut self) -> Option<u32> {
        if self.left == 0 {
            let mut byte = *self.bytes.get(self.at)?;
            if self.zeros >= 2 && byte == 3 {
                self.at += 1;
                self.zeros = 0;
                byte = *self.bytes.get(self.at)?;
            }
            self.zeros = if byte == 0 { self.zeros + 1 } else { 0 };
            self.at += 1;
            (self.current, self.left) = (byte, 8);
        }
        self.left -= 1;
        Some(u32::from(self.current >> self.left & 1))
    }

    /// At most 32 bits.
    fn u(&mut self, count: u32) -> Option<u32> {
        (0..count).try_fold(0, |n, _| Some(n << 1 | self.bit()?))
    }

    fn ue(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while self.bit()? == 0 {
            zeros += 1;
            if zeros > 31 {
                return None;
            }
        }
        ((1u32 << zeros) - 1).checked_add(self.u(zeros)?)
    }

    fn se(&mut self) -> Option<i32> {
        let n = self.ue()?;
        let half = i32::try_from(n.div_ceil(2)).ok()?;
        Some(if n % 2 == 1 { half } else { -half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golomb_codes_are_read() {
        // 1 | 010 | 011 | 00100 | 00101 → 0, 1, 2, 3, 4
        let mut bits = Bits::new(&[0b1010_0110, 0b0100_0010, 0b1000_0000]);
        assert_eq!([(); 5].map(|()| bits.ue()), [0, 1, 2, 3, 4].map(Some));
        let mut bits = Bits::new(&[0b1010_0110, 0b0100_0010, 0b1000_0000]);
        assert_eq!([(); 5].map(|()| bits.se()), [0, 1, -1, 2, -2].map(Some));
        assert_eq!(Bits::new(&[0, 0, 0, 0, 0]).ue(), None, "endless zeros");
        assert_eq!(Bits::new(&[0, 0, 3, 0x80]).u(24), Some(0x80), "the 3 is not data");
    }

    #[test]
    fn a_config_comes_back() {
        let config = AvcConfig::parse(&avc_config(&[7, 66, 0, 30, 9], &[8, 1])).unwrap();
        assert_eq!((config.length_bytes, config.sps.len(), config.pps.len()), (4, 1, 1));
        assert_eq!((&config.sps[0][..], &config.pps[0][..]), (&[7, 66, 0, 30, 9][..], &[8, 1][..]));
    }

    #[test]
    fn damaged_configs_are_an_answer() {
        let good = avc_config(&[7, 66, 0, 30, 9], &[8, 1]);
        for length in 0..good.len() {
            assert!(AvcConfig::parse(&good[..length]).is_err(), "{length}");
        }
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            // Any answer will do.
            let _ = AvcConfig::parse(&bad).map(|config| config.key_slice(&bad));
        }
        let config = AvcConfig::parse(&good).unwrap();
        assert!(config.write_sample(&[0, 0, 0, 9, 1], &mut vec![]).is_err());
        assert!(config.write_sample(&[0, 0], &mut vec![]).is_err());
    }
}
