//! How judges write their memory as numbers and read it back.

use nalgebra::Vector3;

/// Writes a fixed number of numbers that may be absent: a flag, then the numbers (or zeros).
pub(crate) fn put<const N: usize>(out: &mut Vec<f64>, numbers: Option<[f64; N]>) {
    out.push(f64::from(u8::from(numbers.is_some())));
    out.extend(numbers.unwrap_or([0.0; N]));
}

/// What [`put`] wrote; the outer `None` where the numbers end early or the flag is no flag.
pub(crate) fn take<const N: usize>(
    numbers: &mut impl Iterator<Item = f64>,
) -> Option<Option<[f64; N]>> {
    let flag = count(numbers, 1)?;
    let values = array(numbers)?;
    Some((flag == 1).then_some(values))
}

/// The next `N` numbers.
pub(crate) fn array<const N: usize>(numbers: &mut impl Iterator<Item = f64>) -> Option<[f64; N]> {
    let mut values = [0.0; N];
    for value in &mut values {
        *value = numbers.next()?;
    }
    Some(values)
}

/// The next three numbers as a vector.
pub(crate) fn vector(numbers: &mut impl Iterator<Item = f64>) -> Option<Vector3<f64>> {
    array::<3>(numbers).map(Vector3::from)
}

/// The next number as a count from 0 to `most`.
pub(crate) fn count(numbers: &mut impl Iterator<Item = f64>, most: u32) -> Option<u32> {
    let number = numbers.next()?;
    if number.fract() == 0.0 && (0.0..=f64::from(most)).contains(&number) {
        // In range and whole: the conversion is exact.
        Some(number as u32)
    } else {
        None
    }
}
