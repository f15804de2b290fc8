//! One feature over the frames of an episode, row-major.

use std::ops::Range;

/// Values of one feature, frame after frame; a frame has as many as the feature's shape says.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 32-bit floats (also `float16` features).
    F32(Vec<f32>),
    /// 64-bit floats; become 32-bit when the feature is `float32`.
    F64(Vec<f64>),
    /// Integers of any width.
    I64(Vec<i64>),
    /// Yes or no.
    Bool(Vec<bool>),
    /// Texts.
    Text(Vec<String>),
    /// Pictures as the bytes of PNG files.
    Png(Vec<Vec<u8>>),
}

impl Column {
    /// Number of values (frames times values per frame).
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::I64(v) => v.len(),
            Self::Bool(v) => v.len(),
            Self::Text(v) => v.len(),
            Self::Png(v) => v.len(),
        }
    }

    /// True without values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of the values, by position.
    ///
    /// Positions beyond the end are left out.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        fn cut<T: Clone>(values: &[T], range: Range<usize>) -> Vec<T> {
            let end = range.end.min(values.len());
            values[range.start.min(end)..end].to_vec()
        }
        match self {
            Self::F32(v) => Self::F32(cut(v, range)),
            Self::F64(v) => Self::F64(cut(v, range)),
            Self::I64(v) => Self::I64(cut(v, range)),
            Self::Bool(v) => Self::Bool(cut(v, range)),
            Self::Text(v) => Self::Text(cut(v, range)),
            Self::Png(v) => Self::Png(cut(v, range)),
        }
    }

    /// Joins values of the same kind; false when the kinds differ.
    pub(crate) fn extend(&mut self, more: Self) -> bool {
        match (self, more) {
            (Self::F32(a), Self::F32(b)) => a.extend(b),
            (Self::F64(a), Self::F64(b)) => a.extend(b),
            (Self::I64(a), Self::I64(b)) => a.extend(b),
            (Self::Bool(a), Self::Bool(b)) => a.extend(b),
            (Self::Text(a), Self::Text(b)) => a.extend(b),
            (Self::Png(a), Self::Png(b)) => a.extend(b),
            _ => return false,
        }
        true
    }

    /// One value as a number; nothing for texts and pictures.
    #[must_use]
    pub fn number(&self, at: usize) -> Option<f64> {
        match self {
            Self::F32(v) => v.get(at).map(|x| f64::from(*x)),
            Self::F64(v) => v.get(at).copied(),
            Self::I64(v) => v.get(at).map(|x| *x as f64),
            Self::Bool(v) => v.get(at).map(|x| f64::from(u8::from(*x))),
            Self::Text(_) | Self::Png(_) => None,
        }
    }

    /// The integers, if these are integers.
    #[must_use]
    pub fn integers(&self) -> Option<&[i64]> {
        if let Self::I64(v) = self { Some(v) } else { None }
    }

    /// The 32-bit floats, if these are such.
    #[must_use]
    pub fn floats(&self) -> Option<&[f32]> {
        if let Self::F32(v) = self { Some(v) } else { None }
    }

    /// What the values are, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::F32(_) => "32-bit floats",
            Self::F64(_) => "64-bit floats",
            Self::I64(_) => "integers",
            Self::Bool(_) => "booleans",
            Self::Text(_) => "texts",
            Self::Png(_) => "pictures",
        }
    }

    /// Whether values of this kind can be stored as that dtype.
    pub(crate) fn fits(&self, dtype: &str) -> bool {
        match self {
            Self::F32(_) => matches!(dtype, "float16" | "float32" | "float64"),
            Self::F64(_) => matches!(dtype, "float32" | "float64"),
            Self::I64(_) => dtype.starts_with("int") || dtype.starts_with("uint"),
            Self::Bool(_) => dtype == "bool",
            Self::Text(_) => dtype == "string",
            Self::Png(_) => dtype == "image",
        }
    }
}
