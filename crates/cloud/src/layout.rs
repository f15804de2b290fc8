//! Where coordinates and colours are in the bytes of a point: one reading for messages and files.

use super::scalar::Scalar;
use super::split;
use crate::error::CloudError;
use citrange_lanes::Isa;

/// A field as a message or a file declares it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// First byte within a point.
    pub offset: usize,
    /// Kind of its numbers.
    pub scalar: Scalar,
    /// How many of them.
    pub count: usize,
}

/// Where coordinates and colours are. Everything was checked: each lies inside of `step` bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    /// Bytes from point to point.
    step: usize,
    /// First bytes of x, y, z.
    xyz: [usize; 3],
    /// Which of them are float64.
    wide: [bool; 3],
    colour: Colour,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Colour {
    None,
    /// A number 0xAARRGGBB.
    Packed(usize),
    /// One byte each.
    Separate([usize; 3]),
}

const COLOUR_NAMES: [[&str; 3]; 2] = [["r", "g", "b"], ["red", "green", "blue"]];

impl Layout {
    /// Finds the coordinates and colours among fields of points that are `step` bytes apart.
    ///
    /// # Errors
    /// When a coordinate is missing, is no float, is given twice, shares bytes with another
    /// field, or when a field reaches beyond its point.
    pub(super) fn of(
        what: &str,
        fields: &[Field<'_>],
        step: usize,
        big_endian: bool,
    ) -> Result<Self, CloudError> {
        for field in fields {
            check_range(what, field, step)?;
        }
        let mut xyz = [0; 3];
        let mut wide = [false; 3];
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let Some(field) = find(what, fields, name)? else {
                let reason = format!("has no field {name}: x, y and z must be there");
                return Err(CloudError::bad(what, reason));
            };
            wide[axis] = match field.scalar {
                Scalar::F32 => false,
                Scalar::F64 => true,
                other => {
                    let found = other.name();
                    let reason = format!("field {name} is {found}, must be float32 or float64");
                    return Err(CloudError::bad(what, reason));
                }
            };
            check_single(what, field)?;
            // A coordinate that shares bytes with anything is no coordinate.
            check_apart(what, field, fields)?;
            xyz[axis] = field.offset;
        }
        let mut colours = Vec::with_capacity(3);
        let colour = find_colour(what, fields, &mut colours)?;
        for field in &colours {
            check_single(what, field)?;
            check_apart(what, field, &colours)?;
        }
        Ok(Self { step, xyz, wide, colour, big_endian })
    }

    /// Bytes from point to point.
    pub(super) fn step(&self) -> usize {
        self.step
    }

    /// Whether there are colours.
    pub(super) fn has_colour(&self) -> bool {
        self.colour != Colour::None
    }

    /// Coordinates of a point from its bytes.
    pub(super) fn xyz_m(&self, point: &[u8]) -> [f32; 3] {
        std::array::from_fn(|axis| {
            let at = self.xyz[axis];
            match (self.wide[axis], self.big_endian) {
                (false, false) => f32::from_le_bytes(take(point, at)),
                (false, true) => f32::from_be_bytes(take(point, at)),
                (true, false) => f64::from_le_bytes(take(point, at)) as f32,
                (true, true) => f64::from_be_bytes(take(point, at)) as f32,
            }
        })
    }

    /// Colour of a point from its bytes; black where there is none.
    pub(super) fn rgb(&self, point: &[u8]) -> [u8; 3] {
        match self.colour {
            Colour::None => [0; 3],
            Colour::Packed(at) => {
                let bytes = take(point, at);
                let [_, r, g, b] =
                    if self.big_endian { bytes } else { u32::from_le_bytes(bytes).to_be_bytes() };
                [r, g, b]
            }
            Colour::Separate(at) => at.map(|at| point[at]),
        }
    }

    /// Colours of consecutive points, red in the lowest byte; `points` has `step` bytes for each.
    pub(super) fn fill_rgb(&self, points: &[u8], out: &mut [u32]) {
        let points = points.chunks_exact(self.step).zip(out);
        match self.colour {
            Colour::None => points.for_each(|(_, out)| *out = 0),
            Colour::Packed(at) if !self.big_endian => points.for_each(|(point, out)| {
                // Blue, green, red, alpha become red, green, blue, 0.
                *out = u32::from_le_bytes(take(point, at)).swap_bytes() >> 8;
            }),
            _ => points.for_each(|(point, out)| {
                let [r, g, b] = self.rgb(point);
                *out = u32::from_le_bytes([r, g, b, 0]);
            }),
        }
    }

    /// All points and, if there are any, their colours.
    pub(super) fn read_all(&self, points: &[u8]) -> (Vec<[f32; 3]>, Vec<[u8; 3]>) {
        let points = points.chunks_exact(self.step);
        let xyz_m = points.clone().map(|p| self.xyz_m(p)).collect();
        let rgb = if self.has_colour() { points.map(|p| self.rgb(p)).collect() } else { vec![] };
        (xyz_m, rgb)
    }

    /// Coordinates of consecutive points; `points` has `step` bytes for each.
    pub(super) fn fill(
        &self,
        isa: Isa,
        points: &[u8],
        x: &mut [f32],
        y: &mut [f32],
        z: &mut [f32],
    ) {
        let plain = !self.big_endian && self.wide == [false; 3] && self.xyz == [0, 4, 8];
        if plain && split::split(isa, self.step, points, x, y, z) {
            return;
        }
        for (i, point) in points.chunks_exact(self.step).enumerate() {
            [x[i], y[i], z[i]] = self.xyz_m(point);
        }
    }
}

/// The bytes of a number that is known to lie inside of its point.
fn take<const N: usize>(point: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&point[at..at + N]);
    bytes
}

fn find<'a, 'b>(
    what: &str,
    fields: &'a [Field<'b>],
    name: &str,
) -> Result<Option<&'a Field<'b>>, CloudError> {
    let mut found = fields.iter().filter(|f| f.name == name);
    let first = found.next();
    if found.next().is_some() {
        return Err(CloudError::bad(what, format!("has two fields {name}, must have one")));
    }
    Ok(first)
}

fn find_colour<'b>(
    what: &str,
    fields: &[Field<'b>],
    used: &mut Vec<Field<'b>>,
) -> Result<Colour, CloudError> {
    for name in ["rgb", "rgba"] {
        let Some(field) = find(what, fields, name)? else { continue };
        if !matches!(field.scalar, Scalar::F32 | Scalar::U32 | Scalar::I32) {
            let found = field.scalar.name();
            let reason = format!("field {name} is {found}, must be float32 or uint32 (packed)");
            return Err(CloudError::bad(what, reason));
        }
        used.push(*field);
        return Ok(Colour::Packed(field.offset));
    }
    for names in COLOUR_NAMES {
        let mut found = [None; 3];
        for (slot, name) in found.iter_mut().zip(names) {
            *slot = find(what, fields, name)?;
        }
        // Some only: `r` may be a range, `g` a gain.
        let [Some(r), Some(g), Some(b)] = found else { continue };
        for field in [r, g, b] {
            if field.scalar != Scalar::U8 {
                let (name, found) = (field.name, field.scalar.name());
                let reason = format!("field {name} is {found}, must be uint8 (0 to 255)");
                return Err(CloudError::bad(what, reason));
            }
            used.push(*field);
        }
        return Ok(Colour::Separate([r.offset, g.offset, b.offset]));
    }
    Ok(Colour::None)
}

/// First byte after a field; `None` beyond all memory.
fn end(field: &Field<'_>) -> Option<usize> {
    field.scalar.size().checked_mul(field.count)?.checked_add(field.offset)
}

fn check_range(what: &str, field: &Field<'_>, step: usize) -> Result<(), CloudError> {
    if end(field).is_some_and(|end| end <= step) {
        return Ok(());
    }
    let Field { name, offset, scalar, count } = field;
    let reason = format!(
        "field {name} ({count} x {} at byte {offset}) reaches beyond its point of {step} bytes",
        scalar.name()
    );
    Err(CloudError::bad(what, reason))
}

fn check_single(what: &str, field: &Field<'_>) -> Result<(), CloudError> {
    if field.count == 1 {
        return Ok(());
    }
    let reason = format!("field {} has count {}, must be 1", field.name, field.count);
    Err(CloudError::bad(what, reason))
}

fn check_apart(what: &str, field: &Field<'_>, others: &[Field<'_>]) -> Result<(), CloudError> {
    let same = |a: &Field<'_>| a.name == field.name && a.offset == field.offset;
    let overlaps = |a: &Field<'_>| {
        end(a).is_some_and(|e| field.offset < e) && end(field).is_some_and(|e| a.offset < e)
    };
    let Some(other) = others.iter().find(|a| !same(a) && overlaps(a)) else { return Ok(()) };
    let reason = format!(
        "field {} at byte {} overlaps with field {} at byte {}",
        field.name, field.offset, other.name, other.offset
    );
    Err(CloudError::bad(what, reason))
}
