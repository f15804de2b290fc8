//! Numbers with a shape, and attribute values.

use crate::{Hdf5Error, Images};

/// Numbers in row-major order. The first dimension is usually time.
///
/// On disk they are f64. Other number types are widened when read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    data: Vec<f64>,
}

impl Array {
    /// Numbers of any rank; an empty shape is a single number.
    ///
    /// # Errors
    /// When `data` does not have as many numbers as `shape` says.
    pub fn new(shape: Vec<usize>, data: Vec<f64>) -> Result<Self, Hdf5Error> {
        let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        if count != Some(data.len()) {
            let found = format!("{} numbers", data.len());
            return Err(Hdf5Error::shape("array", found, format!("as many as {shape:?} holds")));
        }
        Ok(Self { shape, data })
    }

    /// A table of `rows` by `cols` numbers.
    ///
    /// # Errors
    /// When `data` does not have `rows * cols` numbers.
    pub fn matrix(rows: usize, cols: usize, data: Vec<f64>) -> Result<Self, Hdf5Error> {
        Self::new(vec![rows, cols], data)
    }

    /// A list.
    #[must_use]
    pub fn vector(data: Vec<f64>) -> Self {
        Self { shape: vec![data.len()], data }
    }

    /// Lengths of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// All numbers.
    #[must_use]
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All numbers, without the shape.
    #[must_use]
    pub fn into_data(self) -> Vec<f64> {
        self.data
    }

    /// Length of the first dimension; 1 for a single number.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.shape.first().copied().unwrap_or(1)
    }

    /// Numbers in a row: the product of the other dimensions.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.shape.iter().skip(1).product()
    }

    /// Row `index`, if there is one.
    #[must_use]
    pub fn row(&self, index: usize) -> Option<&[f64]> {
        if index >= self.rows() {
            return None;
        }
        let start = index.checked_mul(self.cols())?;
        self.data.get(start..start.checked_add(self.cols())?)
    }
}

/// A recorded quantity over time: numbers or pictures.
#[derive(Clone, Debug)]
pub enum Series {
    /// Numbers; the first dimension is time.
    Numbers(Array),
    /// A picture per step.
    Images(Images),
}

impl Series {
    /// Number of steps.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Numbers(array) => array.rows(),
            Self::Images(images) => images.frames(),
        }
    }

    /// The numbers, if these are numbers.
    #[must_use]
    pub fn numbers(&self) -> Option<&Array> {
        match self {
            Self::Numbers(array) => Some(array),
            Self::Images(_) => None,
        }
    }

    /// The pictures, if these are pictures.
    #[must_use]
    pub fn images(&self) -> Option<&Images> {
        match self {
            Self::Images(images) => Some(images),
            Self::Numbers(_) => None,
        }
    }
}

/// The value of an attribute, of the type found in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number that `Int` cannot hold.
    Unsigned(u64),
    /// A number.
    Float(f64),
    /// Text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
    /// Several numbers.
    Floats(Vec<f64>),
}

impl Attr {
    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one; true is 1.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(b) => Some(f64::from(u8::from(*b))),
            Self::Int(i) => Some(*i as f64),
            Self::Unsigned(u) => Some(*u as f64),
            Self::Float(f) => Some(*f),
            _ => None,
        }
    }

    /// The whole number, if it is one; floats count when nothing is lost.
    #[must_use]
    pub fn int(&self) -> Option<i64> {
        const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
        match self {
            Self::Bool(b) => Some(i64::from(*b)),
            Self::Int(i) => Some(*i),
            Self::Float(f) if f.fract() == 0.0 && f.abs() <= EXACT => Some(*f as i64),
            _ => None,
        }
    }

    /// True or false, if it is that or the number 0 or 1.
    #[must_use]
    pub fn bool(&self) -> Option<bool> {
        match self.int() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_slices_of_the_first_dimension() {
        let a = Array::new(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!((a.rows(), a.cols()), (2, 3));
        assert_eq!(a.row(1), Some(&[4.0, 5.0, 6.0][..]));
        assert_eq!(a.row(2), None);
        assert_eq!(Array::new(vec![], vec![7.0]).unwrap().row(0), Some(&[7.0][..]));
    }

    #[test]
    fn shapes_must_fit() {
        assert!(Array::matrix(2, 3, vec![0.0; 5]).is_err());
        assert!(Array::new(vec![usize::MAX, 2], vec![]).is_err());
    }

    #[test]
    fn attributes_convert_only_without_loss() {
        assert_eq!(Attr::Float(3.0).int(), Some(3));
        assert_eq!(Attr::Float(3.5).int(), None);
        assert_eq!(Attr::Float(1e300).int(), None);
        assert_eq!(Attr::Int(1).bool(), Some(true));
        assert_eq!(Attr::Int(2).bool(), None);
        assert_eq!(Attr::Text("1".into()).number(), None);
    }
}
