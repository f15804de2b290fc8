//! Fragments: pieces of the index that lie between the samples, so that a film can grow.

use super::boxes::{Bytes, Kind, Parsed, children, damaged, find, need};
use super::movie::MovieSample;

/// What holds for samples of which nothing else is said.
#[derive(Debug, Clone, Copy, Default)]
struct Defaults {
    duration: u32,
    size: u32,
    flags: u32,
}

/// Collects the samples of one track from the fragments of a film.
#[derive(Debug)]
pub(super) struct Fragments {
    track: u32,
    defaults: Defaults,
    /// Time at which the next fragment begins, where it does not say so itself.
    now: u64,
    /// Bytes that samples may still have: a file cannot hold more than itself.
    bytes_left: u64,
}

impl Fragments {
    /// For a track of this `moov`; `None` where the film says that it has no fragments.
    pub(super) fn new(moov: &[(Kind, &[u8])], track: u32, file_bytes: u64) -> Parsed<Option<Self>> {
        let Some((_, mvex)) = moov.iter().find(|(kind, _)| kind == b"mvex") else {
            return Ok(None);
        };
        let mut defaults = Defaults::default();
        for (_, body) in children(mvex)?.iter().filter(|(kind, _)| kind == b"trex") {
            let mut trex = Bytes::new(*b"trex", body);
            trex.version()?;
            if trex.u32()? == track {
                trex.u32()?; // sample description
                let (duration, size, flags) = (trex.u32()?, trex.u32()?, trex.u32()?);
                defaults = Defaults { duration, size, flags };
            }
        }
        Ok(Some(Self { track, defaults, now: 0, bytes_left: file_bytes }))
    }

    /// Continues after samples of the ordinary index.
    pub(super) fn after(&mut self, samples: &[MovieSample]) {
        if let Some(last) = samples.last() {
            self.now = u64::try_from(last.dts).unwrap_or(0) + u64::from(last.duration);
        }
    }

    /// Reads one `moof` that begins at byte `at` of the file.
    pub(super) fn read(&mut self, moof: &[u8], at: u64, out: &mut Vec<MovieSample>) -> Parsed<()> {
        for (_, traf) in children(moof)?.iter().filter(|(kind, _)| kind == b"traf") {
            let boxes = children(traf)?;
            let mut tfhd = need(&boxes, b"tfhd")?;
            let (_, has) = tfhd.version()?;
            if tfhd.u32()? != self.track {
                continue;
            }
            let base = if has & 1 != 0 { tfhd.u64()? } else { at };
            if has & 2 != 0 {
                tfhd.u32()?; // sample description
            }
            let mut defaults = self.defaults;
            for (bit, field) in [
                (8, &mut defaults.duration),
                (0x10, &mut defaults.size),
                (0x20, &mut defaults.flags),
            ] {
                if has & bit != 0 {
                    *field = tfhd.u32()?;
                }
            }
            if let Some(mut tfdt) = find(&boxes, b"tfdt") {
                let (version, _) = tfdt.version()?;
                self.now = tfdt.u32_or_u64(version)?;
            }
            let mut offset = base;
            for (_, body) in boxes.iter().filter(|(kind, _)| kind == b"trun") {
                self.run(Bytes::new(*b"trun", body), defaults, base, &mut offset, out)?;
            }
        }
        Ok(())
    }

    fn run(
        &mut self,
        mut trun: Bytes<'_>,
        defaults: Defaults,
        base: u64,
        offset: &mut u64,
        out: &mut Vec<MovieSample>,
    ) -> Parsed<()> {
        let (_, has) = trun.version()?;
        let count = trun.u32()?;
        if has & 1 != 0 {
            let shift = i64::from(trun.u32()? as i32);
            *offset = base.saturating_add_signed(shift);
        }
        let first_flags = if has & 4 != 0 { Some(trun.u32()?) } else { None };
        for index in 0..count {
            let mut field = |bit, default| match has & bit {
                0 => Ok(default),
                _ => trun.u32(),
            };
            let duration = field(0x100, defaults.duration)?;
            let size = field(0x200, defaults.size)?;
            let flags = field(0x400, defaults.flags)?;
            let shift = field(0x800, 0)? as i32;
            let flags = first_flags.filter(|_| index == 0 && has & 0x400 == 0).unwrap_or(flags);
            self.bytes_left = match self.bytes_left.checked_sub(u64::from(size)) {
                Some(left) if size > 0 => left,
                _ => {
                    return damaged(format!(
                        "sample {} has an impossible size: {size} bytes",
                        out.len()
                    ));
                }
            };
            let Ok(dts) = i64::try_from(self.now) else {
                return damaged(format!("sample {} has an impossible time", out.len()));
            };
            out.push(MovieSample {
                offset: *offset,
                size,
                key: flags & 0x1_0000 == 0,
                pts: dts.saturating_add(i64::from(shift)),
                dts,
                duration,
            });
            *offset = offset.saturating_add(u64::from(size));
            self.now = self.now.saturating_add(u64::from(duration));
        }
        Ok(())
    }
}
