//! The video track inside the index of a film.

use super::boxes::{
    Bytes, Kind, Parsed, children, damaged, first_box, need, need_children, unsupported,
};
use super::edits;

/// What the index says about its first video track.
pub(super) struct Track<'a> {
    pub(super) id: u32,
    pub(super) timescale: u32,
    /// Time of the track at which the film begins.
    pub(super) start: i64,
    /// The sample entry.
    pub(super) entry: &'a [u8],
    /// The tables.
    pub(super) stbl: Vec<(Kind, &'a [u8])>,
}

impl<'a> Track<'a> {
    pub(super) fn find(moov: &[(Kind, &'a [u8])]) -> Parsed<Self> {
        let mut mvhd = need(moov, b"mvhd")?;
        let movie_timescale = timescale(&mut mvhd)?;
        for (_, body) in moov.iter().filter(|(kind, _)| kind == b"trak") {
            let trak = children(body)?;
            let mdia = need_children(&trak, b"mdia")?;
            let mut hdlr = need(&mdia, b"hdlr")?;
            hdlr.take(8)?;
            if hdlr.take(4)? == b"vide" {
                return Self::parse(&trak, &mdia, movie_timescale);
            }
        }
        damaged("it has no video track")
    }

    fn parse(
        trak: &[(Kind, &'a [u8])],
        mdia: &[(Kind, &'a [u8])],
        movie_timescale: u32,
    ) -> Parsed<Self> {
        let mut tkhd = need(trak, b"tkhd")?;
        let (version, _) = tkhd.version()?;
        tkhd.take(if version == 0 { 8 } else { 16 })?; // dates
        let id = tkhd.u32()?;
        let timescale = timescale(&mut need(mdia, b"mdhd")?)?;
        if timescale == 0 {
            return damaged("its time scale is 0");
        }
        let minf = need_children(mdia, b"minf")?;
        let stbl = need_children(&minf, b"stbl")?;
        let mut stsd = need(&stbl, b"stsd")?;
        stsd.version()?;
        match stsd.u32()? {
            1 => {}
            n => return unsupported(format!("it has {n} sample descriptions; 1 is read")),
        }
        let (_, entry, _) = first_box(stsd.rest())?;
        let start = edits::start(trak, movie_timescale, timescale)?;
        Ok(Self { id, timescale, start, entry, stbl })
    }
}

/// Time units per second, of `mvhd` or `mdhd`.
fn timescale(header: &mut Bytes<'_>) -> Parsed<u32> {
    let (version, _) = header.version()?;
    header.take(if version == 0 { 8 } else { 16 })?; // dates
    header.u32()
}
