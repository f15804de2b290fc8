//! Element bytes of foreign types as f64, and attributes as [`Attr`].

use hdf5_reader::{Attribute, ByteOrder, Datatype};

use crate::Attr;

/// A number type in a file.
#[derive(Clone, Copy)]
enum Number {
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl Number {
    fn of(kind: &Datatype) -> Option<(Self, ByteOrder)> {
        match kind {
            Datatype::FixedPoint { size, signed, byte_order } if matches!(size, 1 | 2 | 4 | 8) => {
                let size = usize::from(*size);
                Some((if *signed { Self::Signed(size) } else { Self::Unsigned(size) }, *byte_order))
            }
            Datatype::FloatingPoint { size, byte_order } if matches!(size, 4 | 8) => {
                Some((Self::Float(usize::from(*size)), *byte_order))
            }
            // Booleans, as numpy stores them.
            Datatype::Enum { base, .. } => match **base {
                Datatype::FixedPoint { .. } => Self::of(base),
                _ => None,
            },
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Signed(n) | Self::Unsigned(n) | Self::Float(n) => n,
        }
    }

    fn value(self, bytes: &[u8], order: ByteOrder) -> Attr {
        let mut word = [0u8; 8];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        let size = self.size();
        if matches!(order, ByteOrder::BigEndian) {
            word[..size].reverse();
        }
        let bits = u64::from_le_bytes(word);
        match self {
            Self::Float(4) => Attr::Float(f64::from(f32::from_bits(bits as u32))),
            Self::Float(_) => Attr::Float(f64::from_bits(bits)),
            Self::Signed(_) => {
                let unused = 64 - 8 * size as u32;
                Attr::Int(((bits << unused) as i64) >> unused)
            }
            Self::Unsigned(_) => i64::try_from(bits).map_or(Attr::Unsigned(bits), Attr::Int),
        }
    }
}

/// The elements as f64; `None` when the type is not a number.
pub(crate) fn numbers(kind: &Datatype, raw: &[u8]) -> Option<Vec<f64>> {
    let (number, order) = Number::of(kind)?;
    let elements = raw.chunks_exact(number.size());
    Some(elements.map(|e| number.value(e, order).number().unwrap_or(f64::NAN)).collect())
}

/// A type in one or two words.
pub(crate) fn type_name(kind: &Datatype) -> &'static str {
    match (kind, Number::of(kind)) {
        (Datatype::Enum { .. }, _) => "an enumeration",
        (_, Some((Number::Unsigned(1), _))) => "u8",
        (_, Some((Number::Float(_), _))) => "floats",
        (_, Some(_)) => "integers",
        (Datatype::String { .. }, _) => "text",
        (Datatype::VarLen { kind: hdf5_reader::VarLenKind::String, .. }, _) => "text",
        (Datatype::Compound { .. }, _) => "a compound type",
        _ => "a type that is not read here",
    }
}

/// The value of an attribute; `None` when its type is not known here or it is empty.
pub(crate) fn attr(attribute: &Attribute) -> Option<Attr> {
    let kind = &attribute.datatype;
    let scalar = attribute.shape.is_empty();
    if let Some((number, order)) = Number::of(kind) {
        let size = number.size();
        if !scalar {
            return numbers(kind, &attribute.raw_data).map(Attr::Floats);
        }
        let value = number.value(attribute.raw_data.get(..size)?, order);
        return Some(match (&value, is_bool(kind)) {
            (Attr::Int(i), true) => Attr::Bool(*i != 0),
            _ => value,
        });
    }
    if scalar {
        attribute.read_string().ok().map(Attr::Text)
    } else {
        attribute.read_strings().ok().map(Attr::Texts)
    }
}

fn is_bool(kind: &Datatype) -> bool {
    match kind {
        Datatype::Enum { members, .. } => {
            let has = |name: &str| members.iter().any(|m| m.name == name);
            members.len() == 2 && has("FALSE") && has("TRUE")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_and_byte_order_is_widened() {
        let int = |size, signed, byte_order| Datatype::FixedPoint { size, signed, byte_order };
        let float = |size, byte_order| Datatype::FloatingPoint { size, byte_order };
        use ByteOrder::{BigEndian, LittleEndian};
        let cases: [(Datatype, &[u8], f64); 7] = [
            (int(1, true, LittleEndian), &[0xff], -1.0),
            (int(1, false, LittleEndian), &[0xff], 255.0),
            (int(2, true, BigEndian), &[0xff, 0xfe], -2.0),
            (int(4, false, BigEndian), &[0, 0, 1, 0], 256.0),
            (int(8, true, LittleEndian), &(-5i64).to_le_bytes(), -5.0),
            (float(4, BigEndian), &0.5f32.to_be_bytes(), 0.5),
            (float(8, LittleEndian), &0.1f64.to_le_bytes(), 0.1),
        ];
        for (kind, raw, value) in cases {
            assert_eq!(numbers(&kind, raw), Some(vec![value]), "{kind:?}");
        }
        assert_eq!(numbers(&float(2, LittleEndian), &[0, 0]), None);
    }
}
