//! Sample entries: which codec, which size, which configuration.

use super::boxes::{Bytes, Kind, Parsed, children, damaged, first_box, letters, put, put_words};

/// Bytes of a visual sample entry before the boxes inside it.
const FIXED_BYTES: usize = 86;

/// A sample entry, looked at.
pub(super) struct Entry<'a> {
    pub(super) kind: Kind,
    pub(super) size: [u32; 2],
    /// The boxes inside.
    pub(super) inside: Vec<(Kind, &'a [u8])>,
}

impl<'a> Entry<'a> {
    pub(super) fn parse(entry: &'a [u8]) -> Parsed<Self> {
        let (kind, whole, body) = first_box(entry)?;
        if whole.len() != entry.len() || whole.len() < FIXED_BYTES {
            return damaged("the sample entry is not one visual sample entry");
        }
        let mut bytes = Bytes::new(kind, body);
        bytes.take(24)?;
        let size = [u32::from(bytes.u16()?), u32::from(bytes.u16()?)];
        Ok(Self { kind, size, inside: children(entry.get(FIXED_BYTES..).unwrap_or_default())? })
    }

    pub(super) fn child(&self, kind: &Kind) -> Option<&'a [u8]> {
        self.inside.iter().find(|(k, _)| k == kind).map(|(_, body)| *body)
    }

    /// The codec as ffmpeg calls it; the four letters where it is none of the usual ones.
    pub(super) fn codec(&self) -> String {
        let name = match &self.kind {
            b"avc1" | b"avc3" => "h264",
            b"hvc1" | b"hev1" => "hevc",
            b"av01" => "av1",
            b"vp08" => "vp8",
            b"vp09" => "vp9",
            b"jpeg" | b"mjpa" | b"mjpb" => "mjpeg",
            b"mp4v" => match self.child(b"esds").and_then(object_type) {
                Some(0x6c) => "mjpeg",
                Some(0x6d) => "png",
                Some(0x60..=0x65) => "mpeg2video",
                Some(0x6a) => "mpeg1video",
                _ => "mpeg4",
            },
            other => return letters(*other),
        };
        name.to_owned()
    }
}

/// The object type of an `esds` box: in the decoder descriptor (4) in the stream descriptor (3).
fn object_type(esds: &[u8]) -> Option<u8> {
    fn inside(bytes: &[u8], tag: u8) -> Option<&[u8]> {
        let (&found, mut rest) = bytes.split_first()?;
        // The length: seven bits a byte, the top bit says that more follow.
        for _ in 0..4 {
            let (&byte, tail) = rest.split_first()?;
            rest = tail;
            if byte & 0x80 == 0 {
                break;
            }
        }
        (found == tag).then_some(rest)
    }
    let stream = inside(esds.get(4..)?, 3)?;
    inside(stream.get(3..)?, 4)?.first().copied()
}

/// How two sample entries differ in what decoders go by. Bit rates and names do not count.
pub(crate) fn differences(a: &[u8], b: &[u8]) -> Option<String> {
    let (Ok(a), Ok(b)) = (Entry::parse(a), Entry::parse(b)) else {
        return Some("a sample entry cannot be read".into());
    };
    if a.kind != b.kind {
        return Some(format!(
            "codec {} ({}) and {} ({})",
            a.codec(),
            letters(a.kind),
            b.codec(),
            letters(b.kind)
        ));
    }
    if a.size != b.size {
        let [[aw, ah], [bw, bh]] = [a.size, b.size];
        return Some(format!("size {aw}x{ah} and {bw}x{bh}"));
    }
    const INCIDENTAL: [&Kind; 3] = [b"btrt", b"free", b"pasp"];
    let kinds = a.inside.iter().chain(&b.inside).map(|(kind, _)| *kind);
    for kind in kinds.filter(|kind| !INCIDENTAL.contains(&kind)) {
        let both = (a.child(&kind), b.child(&kind));
        // Not to say the colours is to leave them to the codec's own headers, which are compared.
        let same = match both {
            (Some(a), Some(b)) => a == b,
            _ => &kind == b"colr",
        };
        if !same {
            return Some(format!("different encoder configuration (box {})", letters(kind)));
        }
    }
    None
}

/// The entry of H.264 from our encoder.
pub(super) fn avc1(width: u32, height: u32, avc_config: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, b"avc1", |out| {
        out.extend([0, 0, 0, 0, 0, 0, 0, 1]); // data reference 1
        out.extend([0; 16]);
        put_words(out, [(width & 0xffff) << 16 | height & 0xffff]);
        put_words(out, [72 << 16, 72 << 16, 0]); // dots per inch
        out.extend([0, 1]); // frames per sample
        out.extend([0; 32]); // compressor name
        out.extend([0, 24, 0xff, 0xff]); // bits per pixel, no colour table
        put(out, b"avcC", |out| out.extend(avc_config));
        put(out, b"colr", |out| {
            out.extend(b"nclx");
            // BT.601 (SMPTE 170M) primaries, transfer and matrix; limited range.
            out.extend([0, 6, 0, 6, 0, 6, 0]);
        });
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_entry_is_read_back() {
        let bytes = avc1(640, 480, &[1, 2, 3]);
        let entry = Entry::parse(&bytes).unwrap();
        assert_eq!((entry.codec().as_str(), entry.size), ("h264", [640, 480]));
        assert_eq!(entry.child(b"avcC"), Some(&[1, 2, 3][..]));
        assert_eq!(entry.child(b"colr").map(<[u8]>::len), Some(11));
    }

    #[test]
    fn what_differs_is_named() {
        let entry = avc1(640, 480, &[1, 2, 3]);
        assert_eq!(differences(&entry, &entry), None);
        let said = |other: &[u8]| differences(&entry, other).unwrap();
        assert!(said(&avc1(640, 482, &[1, 2, 3])).contains("640x480 and 640x482"));
        assert!(said(&avc1(640, 480, &[1, 2, 4])).contains("avcC"));
        let mut hevc = entry.clone();
        hevc[4..8].copy_from_slice(b"hvc1");
        assert!(said(&hevc).contains("h264 (avc1) and hevc (hvc1)"));
    }

    #[test]
    fn object_types_are_found() {
        let esds = |object| [0, 0, 0, 0, 3, 0x80, 0x80, 0x80, 20, 0, 1, 0, 4, 12, object, 0];
        assert_eq!(object_type(&esds(0x20)), Some(0x20));
        assert_eq!(object_type(&esds(0x6c)), Some(0x6c));
        assert_eq!(object_type(&[0, 0, 0, 0, 3]), None);
    }
}
