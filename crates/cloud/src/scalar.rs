//! Kinds of numbers that messages and files are made of.

/// A kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    /// Bytes of one.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// For people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::I8 => "int8",
            Self::U8 => "uint8",
            Self::I16 => "int16",
            Self::U16 => "uint16",
            Self::I32 => "int32",
            Self::U32 => "uint32",
            Self::I64 => "int64",
            Self::U64 => "uint64",
            Self::F32 => "float32",
            Self::F64 => "float64",
        }
    }

    /// Reads a word as this kind and appends it, little-endian. `None` if it is no such number.
    pub(super) fn push_text(self, word: &str, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::I8 => out.extend(word.parse::<i8>().ok()?.to_le_bytes()),
            Self::U8 => out.extend(word.parse::<u8>().ok()?.to_le_bytes()),
            Self::I16 => out.extend(word.parse::<i16>().ok()?.to_le_bytes()),
            Self::U16 => out.extend(word.parse::<u16>().ok()?.to_le_bytes()),
            Self::I32 => out.extend(word.parse::<i32>().ok()?.to_le_bytes()),
            Self::U32 => out.extend(word.parse::<u32>().ok()?.to_le_bytes()),
            Self::I64 => out.extend(word.parse::<i64>().ok()?.to_le_bytes()),
            Self::U64 => out.extend(word.parse::<u64>().ok()?.to_le_bytes()),
            Self::F32 => out.extend(word.parse::<f32>().ok()?.to_le_bytes()),
            Self::F64 => out.extend(word.parse::<f64>().ok()?.to_le_bytes()),
        }
        Some(())
    }
}
