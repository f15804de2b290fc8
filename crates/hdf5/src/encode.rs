//! Bytes of the HDF5 messages that are written: types, shapes, attributes, links, headers.
//!
//! Version 2 object headers (HDF5 1.8 and later read them), 8-byte offsets, little endian.

use hdf5_core::jenkins_lookup3;

use crate::Hdf5Error;

/// "No address."
pub(crate) const UNDEFINED: u64 = u64::MAX;

/// Numbers of the header messages.
mod message {
    pub(super) const DATASPACE: u8 = 1;
    pub(super) const LINK_INFO: u8 = 2;
    pub(super) const DATATYPE: u8 = 3;
    pub(super) const FILL: u8 = 5;
    pub(super) const LINK: u8 = 6;
    pub(super) const LAYOUT: u8 = 8;
    pub(super) const GROUP_INFO: u8 = 10;
    pub(super) const FILTERS: u8 = 11;
    pub(super) const ATTRIBUTE: u8 = 12;
}

/// Element types that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementType {
    F64,
    F32,
    I64,
    U64,
    U8,
    /// The enumeration FALSE, TRUE over a byte: numpy's bool.
    Bool,
    /// Variable-length UTF-8; the elements are references into a global heap.
    Text,
    /// Bytes of a fixed width, padded with NUL: numpy's `S<width>`.
    Bytes(u32),
}

impl ElementType {
    /// Bytes of an element.
    pub(crate) fn size(self) -> u32 {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 => 4,
            Self::U8 | Self::Bool => 1,
            Self::Text => 16,
            Self::Bytes(width) => width,
        }
    }

    fn encode(self) -> Vec<u8> {
        // Class and version, class bits, size; then what the class needs.
        let start = |class: u8, bits: [u8; 3]| {
            let mut out = vec![class, bits[0], bits[1], bits[2]];
            out.extend(self.size().to_le_bytes());
            out
        };
        let int = |size: u8, signed: bool| {
            let mut out = vec![0x10, if signed { 8 } else { 0 }, 0, 0, size, 0, 0, 0, 0, 0];
            out.extend((u16::from(size) * 8).to_le_bytes());
            out
        };
        match self {
            Self::F64 => {
                let mut out = start(0x11, [0x20, 63, 0]);
                // Bit offset, precision, exponent at 52 of 11 bits, mantissa at 0 of 52, bias.
                out.extend([0, 0, 64, 0, 52, 11, 0, 52]);
                out.extend(1023u32.to_le_bytes());
                out
            }
            Self::F32 => {
                let mut out = start(0x11, [0x20, 31, 0]);
                // Bit offset, precision, exponent at 23 of 8 bits, mantissa at 0 of 23, bias.
                out.extend([0, 0, 32, 0, 23, 8, 0, 23]);
                out.extend(127u32.to_le_bytes());
                out
            }
            Self::I64 => int(8, true),
            Self::U64 => int(8, false),
            Self::U8 => int(1, false),
            Self::Bool => {
                let mut out = start(0x38, [2, 0, 0]);
                out.extend(int(1, true));
                out.extend(b"FALSE\0TRUE\0\x00\x01");
                out
            }
            Self::Text => {
                let mut out = start(0x19, [1, 1, 0]);
                out.extend(int(1, false));
                out
            }
            Self::Bytes(_) => start(0x13, [1, 0, 0]),
        }
    }
}

/// A shape; `None` is a single element.
pub(crate) fn dataspace(dims: Option<&[u64]>) -> Vec<u8> {
    let Some(dims) = dims else { return vec![2, 0, 0, 0] };
    let mut out = vec![2, dims.len() as u8, 0, 1];
    out.extend(dims.iter().flat_map(|d| d.to_le_bytes()));
    out
}

/// How the elements of a dataset lie in the file.
pub(crate) enum Layout {
    Contiguous {
        address: u64,
        bytes: u64,
    },
    /// Deflated chunks of `chunk` elements per dimension, found by the B-tree at `address`.
    Gzip {
        address: u64,
        chunk: Vec<u32>,
        level: u32,
    },
}

/// An object header in the making.
pub(crate) struct Header {
    object: String,
    body: Vec<u8>,
}

impl Header {
    /// Header of a group with `links` to objects.
    pub(crate) fn group(object: &str, links: &[(String, u64)]) -> Result<Self, Hdf5Error> {
        let mut header = Self { object: object.into(), body: Vec::new() };
        let mut info = vec![0, 0];
        info.extend(UNDEFINED.to_le_bytes());
        info.extend(UNDEFINED.to_le_bytes());
        header.message(message::LINK_INFO, &info)?;
        header.message(message::GROUP_INFO, &[0, 0])?;
        for (name, address) in links {
            check_name(name)?;
            // Hard link, two bytes of length, with a character set: UTF-8.
            let mut link = vec![1, 0x11, 1];
            link.extend((name.len() as u16).to_le_bytes());
            link.extend(name.as_bytes());
            link.extend(address.to_le_bytes());
            header.message(message::LINK, &link)?;
        }
        Ok(header)
    }

    /// Header of a dataset.
    pub(crate) fn dataset(
        object: &str,
        kind: ElementType,
        dims: Option<&[u64]>,
        layout: &Layout,
    ) -> Result<Self, Hdf5Error> {
        let mut header = Self { object: object.into(), body: Vec::new() };
        header.message(message::DATASPACE, &dataspace(dims))?;
        header.message(message::DATATYPE, &kind.encode())?;
        match layout {
            Layout::Contiguous { address, bytes } => {
                // Space is allocated late, no fill value is set.
                header.message(message::FILL, &[3, 0x0a])?;
                let mut out = vec![3, 1];
                out.extend(address.to_le_bytes());
                out.extend(bytes.to_le_bytes());
                header.message(message::LAYOUT, &out)?;
            }
            Layout::Gzip { address, chunk, level } => {
                header.message(message::FILL, &[3, 0x0b])?;
                let mut out = vec![3, 2, chunk.len() as u8 + 1];
                out.extend(address.to_le_bytes());
                out.extend(chunk.iter().flat_map(|d| d.to_le_bytes()));
                out.extend(kind.size().to_le_bytes());
                header.message(message::LAYOUT, &out)?;
                // One filter: deflate, optional, with its level.
                let mut out = vec![2, 1, 1, 0, 1, 0, 1, 0];
                out.extend(level.to_le_bytes());
                header.message(message::FILTERS, &out)?;
            }
        }
        Ok(header)
    }

    /// Adds an attribute whose elements are already bytes.
    pub(crate) fn attribute(
        &mut self,
        name: &str,
        kind: ElementType,
        dims: Option<&[u64]>,
        elements: &[u8],
    ) -> Result<(), Hdf5Error> {
        check_name(name)?;
        let (kind, space) = (kind.encode(), dataspace(dims));
        let mut out = vec![3, 0];
        for length in [name.len() + 1, kind.len(), space.len()] {
            out.extend((length as u16).to_le_bytes());
        }
        out.push(1); // the name is UTF-8
        out.extend(name.as_bytes());
        out.push(0);
        out.extend(kind);
        out.extend(space);
        out.extend(elements);
        self.message(message::ATTRIBUTE, &out)
    }

    fn message(&mut self, kind: u8, data: &[u8]) -> Result<(), Hdf5Error> {
        let length = u16::try_from(data.len()).map_err(|_| Hdf5Error::Unstorable {
            object: self.object.clone(),
            why: "an attribute must be smaller than 64 kB; use a dataset",
        })?;
        self.body.push(kind);
        self.body.extend(length.to_le_bytes());
        self.body.push(0);
        self.body.extend(data);
        Ok(())
    }

    /// The bytes of the header.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Hdf5Error> {
        let length = u32::try_from(self.body.len()).map_err(|_| Hdf5Error::Unstorable {
            object: self.object,
            why: "it has too many members",
        })?;
        let mut out = b"OHDR\x02\x02".to_vec();
        out.extend(length.to_le_bytes());
        out.extend(self.body);
        out.extend(jenkins_lookup3(&out).to_le_bytes());
        Ok(out)
    }
}

/// The first bytes of the file.
pub(crate) fn superblock(end_of_file: u64, root: u64) -> Vec<u8> {
    let mut out = b"\x89HDF\r\n\x1a\n\x02\x08\x08\x00".to_vec();
    for address in [0, UNDEFINED, end_of_file, root] {
        out.extend(address.to_le_bytes());
    }
    out.extend(jenkins_lookup3(&out).to_le_bytes());
    out
}

/// Bytes of the superblock.
pub(crate) const SUPERBLOCK_BYTES: u64 = 48;

/// A name that HDF5 can use for a link or an attribute.
pub(crate) fn check_name(name: &str) -> Result<(), Hdf5Error> {
    let why = match name {
        "" => "the name is empty",
        "." | ".." => "the name is reserved",
        _ if name.contains('/') => "the name has a slash",
        _ if name.contains('\0') => "the name has a NUL character",
        _ if name.len() > 4096 => "the name is longer than 4096 bytes",
        _ => return Ok(()),
    };
    Err(Hdf5Error::Unstorable { object: name.into(), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_be_paths_are_refused() {
        for name in ["", ".", "..", "a/b", "a\0b"] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        assert!(check_name("robot0_eef_pos").is_ok() && check_name("Würfel").is_ok());
    }

    #[test]
    fn attributes_over_64_kb_are_refused_with_advice() {
        let mut header = Header::group("/", &[]).unwrap();
        let error =
            header.attribute("a", ElementType::F64, Some(&[9000]), &[0; 72_000]).unwrap_err();
        assert!(error.to_string().contains("use a dataset"), "{error}");
    }

    #[test]
    fn the_superblock_has_its_length() {
        assert_eq!(superblock(0, 0).len() as u64, SUPERBLOCK_BYTES);
    }
}
