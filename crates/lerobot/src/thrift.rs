//! Reading Thrift's compact protocol, in which the footers of parquet files are written. Strict:
//! what is cut off, nested without end or of an unknown kind is refused.

/// Deeper than any footer nests.
const DEEPEST: usize = 16;

/// A value as read.
#[derive(Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Bool,
    Int { bits: u8, value: i64 },
    Double,
    Bytes(&'a [u8]),
    List(Vec<Self>),
    Map,
    Struct(Struct<'a>),
}

/// Fields by their numbers, in the order of the file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Struct<'a>(Vec<(i16, Value<'a>)>);

impl<'a> Struct<'a> {
    /// Reads a struct from the beginning of some bytes.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        Reader(bytes).fields(0)
    }

    /// The last field with a number: readers let later ones win.
    fn get(&self, id: i16) -> Option<&Value<'a>> {
        self.0.iter().rev().find(|(field, _)| *field == id).map(|(_, value)| value)
    }

    /// A whole number of this width.
    pub(crate) fn int(&self, id: i16, bits: u8) -> Option<i64> {
        match self.get(id) {
            Some(Value::Int { bits: is, value }) if *is == bits => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn bytes(&self, id: i16) -> Option<&'a [u8]> {
        match self.get(id) {
            Some(Value::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn list(&self, id: i16) -> Option<&[Value<'a>]> {
        match self.get(id) {
            Some(Value::List(list)) => Some(list),
            _ => None,
        }
    }

    pub(crate) fn fields(&self, id: i16) -> Option<&Self> {
        match self.get(id) {
            Some(Value::Struct(fields)) => Some(fields),
            _ => None,
        }
    }

    /// Whether these are 32-bit whole numbers.
    pub(crate) fn has_ints(&self, ids: &[i16]) -> bool {
        ids.iter().all(|id| self.int(*id, 32).is_some())
    }

    pub(crate) fn is_bool(&self, id: i16) -> bool {
        matches!(self.get(id), Some(Value::Bool))
    }

    /// Whether there is a field with this number, of whatever kind.
    pub(crate) fn has(&self, id: i16) -> bool {
        self.get(id).is_some()
    }
}

impl<'a> Value<'a> {
    pub(crate) fn as_fields(&self) -> Option<&Struct<'a>> {
        if let Self::Struct(fields) = self { Some(fields) } else { None }
    }

    pub(crate) fn as_bytes(&self) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    pub(crate) fn as_int(&self) -> Option<i64> {
        if let Self::Int { value, .. } = self { Some(*value) } else { None }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("it is cut off")?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number does not end".into())
    }

    fn zigzag(&mut self) -> Result<i64, String> {
        let raw = self.varint()?;
        Ok((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    /// A length: no more than there are bytes left.
    fn length(&mut self) -> Result<usize, String> {
        let length = usize::try_from(self.varint()?).map_err(|e| e.to_string())?;
        if length > self.0.len() {
            return Err(format!("a length of {length} where {} bytes are left", self.0.len()));
        }
        Ok(length)
    }

    fn fields(&mut self, depth: usize) -> Result<Struct<'a>, String> {
        let mut fields = Struct::default();
        let mut id: i16 = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(fields);
            }
            id = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|e| e.to_string())?,
                step => id.checked_add(i16::from(step)).ok_or("impossible field numbers")?,
            };
            fields.0.push((id, self.value(head & 0x0f, depth, false)?));
        }
    }

    fn value(&mut self, kind: u8, depth: usize, in_list: bool) -> Result<Value<'a>, String> {
        if depth > DEEPEST {
            return Err("it nests too deep".into());
        }
        let int = |bits, value| Ok(Value::Int { bits, value });
        match kind {
            1 | 2 => {
                // In a list a boolean is a byte of its own, in a struct the field's kind.
                if in_list {
                    self.byte()?;
                }
                Ok(Value::Bool)
            }
            3 => int(8, i64::from(self.byte()? as i8)),
            4 => int(16, self.zigzag()?),
            5 => int(32, self.zigzag()?),
            6 => int(64, self.zigzag()?),
            7 => self.take(8).map(|_| Value::Double),
            8 => {
                let length = self.length()?;
                self.take(length).map(Value::Bytes)
            }
            9 | 10 => self.list(depth),
            11 => self.map(depth),
            12 => self.fields(depth + 1).map(Value::Struct),
            other => Err(format!("kind {other} of a field is not known")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, String> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.length()?,
            count => usize::from(count),
        };
        let all = (0..count).map(|_| self.value(head & 0x0f, depth + 1, true));
        all.collect::<Result<_, _>>().map(Value::List)
    }

    fn map(&mut self, depth: usize) -> Result<Value<'a>, String> {
        let count = self.length()?;
        let kinds = if count > 0 { self.byte()? } else { 0 };
        for _ in 0..count {
            self.value(kinds >> 4, depth + 1, true)?;
            self.value(kinds & 0x0f, depth + 1, true)?;
        }
        Ok(Value::Map)
    }
}
