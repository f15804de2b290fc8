//! The little of protocol buffers that ONNX needs.

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// All fields of a message, in order.
pub(super) fn fields(mut bytes: &[u8]) -> Result<Vec<(u64, Field<'_>)>, String> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)?),
            1 => {
                take(&mut bytes, 8)?;
                continue;
            }
            2 => {
                let count = usize::try_from(varint(&mut bytes)?).map_err(|e| e.to_string())?;
                Field::Bytes(take(&mut bytes, count)?)
            }
            5 => {
                let raw = take(&mut bytes, 4)?;
                Field::Fixed32(u32::from_le_bytes(raw.first_chunk().copied().unwrap_or_default()))
            }
            kind => return Err(format!("a field of kind {kind}")),
        };
        found.push((key >> 3, field));
    }
    Ok(found)
}

/// Numbers packed one after the other.
pub(super) fn varints(mut bytes: &[u8]) -> Result<Vec<u64>, String> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        found.push(varint(&mut bytes)?);
    }
    Ok(found)
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], String> {
    let (taken, left) = bytes.split_at_checked(count).ok_or("it ends too early")?;
    *bytes = left;
    Ok(taken)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?.first().copied().unwrap_or_default();
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err("a number of more than 64 bits".to_owned())
}

/// Writes a message.
#[derive(Debug, Default)]
pub(super) struct Message(pub(super) Vec<u8>);

impl Message {
    fn key(&mut self, field: u64, kind: u64) {
        self.raw(field << 3 | kind);
    }

    fn raw(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(super) fn number(mut self, field: u64, number: u64) -> Self {
        self.key(field, 0);
        self.raw(number);
        self
    }

    pub(super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.key(field, 2);
        self.raw(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn message(self, field: u64, message: Self) -> Self {
        self.bytes(field, &message.0)
    }
}
