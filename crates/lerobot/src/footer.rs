//! Whether the footer of a parquet file says what its readers go by. Readers differ in what they
//! look at: a file that one of them takes may be refused by the next, so all of it is looked at.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use crate::thrift::{Struct, Value};

const MAGIC: &[u8; 4] = b"PAR1";
/// Length and magic behind the footer.
const TAIL: u64 = 8;
/// Larger than any footer.
const LARGEST: u64 = 1 << 30;
/// Physical types: boolean to fixed length bytes.
const TYPES: Range<i64> = 0..8;
const FIXED_LENGTH: i64 = 7;
const CODECS: Range<i64> = 0..8;
const ENCODINGS: Range<i64> = 0..10;
/// Version 5 of Arrow's messages, counted from 0.
const NEWEST_ARROW: u16 = 4;

/// Refuses what no reader should take.
pub(crate) fn check(file: &File, bytes: u64) -> Result<(), String> {
    let read = |at: u64, length: usize| {
        let mut buffer = vec![0; length];
        file.read_exact_at(&mut buffer, at).map(|()| buffer).map_err(|e| e.to_string())
    };
    if bytes < MAGIC.len() as u64 + TAIL || read(0, 4)? != MAGIC {
        return Err("it does not begin with PAR1".into());
    }
    let tail = read(bytes - TAIL, TAIL as usize)?;
    if tail[4..] != *MAGIC {
        return Err("it does not end with PAR1; it is cut off".into());
    }
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if length > LARGEST || length + TAIL + MAGIC.len() as u64 > bytes {
        return Err(format!("its footer of {length} bytes does not fit into {bytes}"));
    }
    let begins = bytes - TAIL - length;
    let footer = read(begins, length as usize)?;
    let footer = Struct::read(&footer).map_err(|e| format!("its footer cannot be read: {e}"))?;
    Footer { begins, footer: &footer }.check()
}

struct Footer<'a> {
    /// Where it begins in the file: columns lie before it.
    begins: u64,
    footer: &'a Struct<'a>,
}

/// A column of the schema: its path, its physical type, how deep it repeats and may be missing.
struct Leaf {
    path: Vec<String>,
    kind: i64,
    levels: Levels,
}

/// Dremel's levels: of how many repeated, and of how many optional or repeated nodes.
#[derive(Clone, Copy, Default)]
struct Levels {
    repetition: usize,
    definition: usize,
}

fn lacks(what: &str) -> String {
    format!("its footer has no {what}, or not of the right kind")
}

fn text(bytes: &[u8]) -> Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|_| "a name in its footer is no UTF-8".to_owned())
}

fn structs<'a>(list: &'a [Value<'a>], what: &str) -> Result<Vec<&'a Struct<'a>>, String> {
    list.iter().map(|v| v.as_fields().ok_or_else(|| lacks(what))).collect()
}

impl Footer<'_> {
    fn check(&self) -> Result<(), String> {
        let footer = self.footer;
        footer.int(1, 32).ok_or_else(|| lacks("version"))?;
        let schema = footer.list(2).ok_or_else(|| lacks("schema"))?;
        let leaves = leaves(&structs(schema, "schema")?)?;
        let rows = footer.int(3, 64).ok_or_else(|| lacks("number of rows"))?;
        let groups = footer.list(4).ok_or_else(|| lacks("row groups"))?;
        let (mut sum, mut taken) = (0i64, Vec::new());
        for group in structs(groups, "row groups")? {
            let count = self.group(group, &leaves, &mut taken)?;
            sum = sum.checked_add(count).ok_or("impossible row counts")?;
        }
        if sum != rows {
            return Err(format!("its footer counts {rows} rows, its row groups {sum}"));
        }
        taken.sort_by_key(|range: &Range<u64>| range.start);
        if taken.windows(2).any(|pair| pair[0].end > pair[1].start) {
            return Err("two of its columns lie in the same bytes".into());
        }
        self.notes()
    }

    /// Texts beside the schema.
    fn notes(&self) -> Result<(), String> {
        if self.footer.has(6) {
            text(self.footer.bytes(6).ok_or_else(|| lacks("writer's name"))?)?;
        }
        let Some(notes) = self.footer.list(5) else {
            return if self.footer.has(5) { Err(lacks("list of notes")) } else { Ok(()) };
        };
        for note in structs(notes, "notes")? {
            let key = text(note.bytes(1).ok_or_else(|| lacks("name of a note"))?)?;
            if key == "ARROW:schema" {
                arrow_schema(note.bytes(2).ok_or_else(|| lacks("Arrow schema"))?)?;
            }
        }
        Ok(())
    }

    /// Checks a row group; gives its rows.
    fn group(
        &self,
        group: &Struct<'_>,
        leaves: &[Leaf],
        taken: &mut Vec<Range<u64>>,
    ) -> Result<i64, String> {
        let columns = group.list(1).ok_or_else(|| lacks("columns of a row group"))?;
        group.int(2, 64).ok_or_else(|| lacks("size of a row group"))?;
        let sorting = structs(group.list(4).unwrap_or_default(), "order of rows")?;
        if sorting.iter().any(|s| !s.has_ints(&[1]) || !s.is_bool(2) || !s.is_bool(3)) {
            return Err(lacks("order of rows"));
        }
        let rows = group.int(3, 64).filter(|rows| *rows >= 0);
        let rows = rows.ok_or_else(|| lacks("rows of a row group"))?;
        if columns.len() != leaves.len() {
            let (found, wanted) = (columns.len(), leaves.len());
            return Err(format!("a row group has {found} columns, its schema {wanted}"));
        }
        for (column, leaf) in structs(columns, "column")?.into_iter().zip(leaves) {
            let bad = |reason: String| format!("column {}: {reason}", leaf.path.join("."));
            taken.push(self.column(column, leaf, rows).map_err(bad)?);
        }
        Ok(rows)
    }

    /// Checks a column of a row group; gives the bytes it takes.
    fn column(&self, chunk: &Struct<'_>, leaf: &Leaf, rows: i64) -> Result<Range<u64>, String> {
        chunk.int(2, 64).ok_or_else(|| lacks("offset of a column"))?;
        let meta = chunk.fields(3).ok_or_else(|| lacks("description of a column"))?;
        let number = |id, bits, what: &str| meta.int(id, bits).ok_or_else(|| lacks(what));
        let kind = number(1, 32, "type")?;
        let encodings = meta.list(2).ok_or_else(|| lacks("encodings"))?;
        let path = meta.list(3).ok_or_else(|| lacks("path"))?;
        let codec = number(4, 32, "codec")?;
        let values = number(5, 64, "number of values")?;
        let (raw, packed) = (number(6, 64, "size")?, number(7, 64, "packed size")?);
        let data = number(9, 64, "offset of its data")?;
        if kind != leaf.kind {
            return Err(format!("its type is {kind}, the schema says {}", leaf.kind));
        }
        if !path.iter().map(Value::as_bytes).eq(leaf.path.iter().map(|p| Some(p.as_bytes()))) {
            return Err("its path is not that of the schema".into());
        }
        let known = |value: &Value<'_>| value.as_int().is_some_and(|e| ENCODINGS.contains(&e));
        if !CODECS.contains(&codec) || encodings.is_empty() || !encodings.iter().all(known) {
            return Err("its codec or an encoding of it is not known".into());
        }
        let pages = meta.list(13).unwrap_or_default();
        if structs(pages, "encodings of pages")?.iter().any(|p| !p.has_ints(&[1, 2, 3])) {
            return Err(lacks("encodings of pages"));
        }
        if let Some(sizes) = meta.fields(16) {
            let Levels { repetition, definition } = leaf.levels;
            let fits = |id, level| sizes.list(id).is_none_or(|h| h.is_empty() || h.len() == level);
            if !fits(2, repetition + 1) || !fits(3, definition + 1) {
                return Err("its histograms are not those of its levels".into());
            }
        }
        let is_flat = leaf.levels.repetition == 0;
        let fits = if is_flat { values == rows } else { values >= 0 };
        if !fits || raw < 0 {
            return Err(format!("it has {values} values in {raw} bytes for {rows} rows"));
        }
        if packed == 0 && rows == 0 {
            return Ok(0..0);
        }
        let dictionary = meta.int(11, 64).filter(|at| *at > 0);
        let first = dictionary.unwrap_or(data);
        if first > data || dictionary == Some(data) {
            return Err(format!("its dictionary at byte {first} is not before its data at {data}"));
        }
        let range = u64::try_from(first).ok().zip(u64::try_from(packed).ok());
        let range = range.and_then(|(first, packed)| Some(first..first.checked_add(packed)?));
        let inside = |range: &Range<u64>| {
            range.start >= MAGIC.len() as u64
                && range.end <= self.begins
                && u64::try_from(data).is_ok_and(|at| at <= range.end)
        };
        range.filter(inside).ok_or_else(|| {
            format!("its {packed} bytes from byte {first} are not before the footer; it is cut off")
        })
    }
}

/// A group of the schema whose children are being read.
struct Group {
    name: String,
    children_left: i64,
    levels: Levels,
}

/// The columns of a schema, which is a tree written in depth-first order.
fn leaves(elements: &[&Struct<'_>]) -> Result<Vec<Leaf>, String> {
    let mut leaves = Vec::new();
    let mut open: Vec<Group> = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        let name = text(element.bytes(4).ok_or_else(|| lacks("name of a column"))?)?;
        let mut levels = open.last().map(|group| group.levels).unwrap_or_default();
        match (index, element.int(3, 32)) {
            (0, _) | (_, Some(0)) => {}
            (_, Some(1)) => levels.definition += 1,
            (_, Some(2)) => {
                levels.definition += 1;
                levels.repetition += 1;
            }
            _ => return Err(format!("how often {name:?} occurs is not said")),
        }
        match (index, open.last_mut()) {
            (0, _) => {}
            (_, Some(group)) => group.children_left -= 1,
            (_, None) => return Err("its schema has columns beside its root".into()),
        }
        let children_left = element.int(5, 32).unwrap_or(0);
        let is_group = children_left > 0 || index == 0;
        let kind = element.int(1, 32).filter(|kind| TYPES.contains(kind));
        if !means_something(element, kind.filter(|_| !is_group)) {
            return Err(format!("what {name:?} means is not said, or cannot be"));
        }
        if is_group {
            open.push(Group { name, children_left, levels });
        } else {
            let kind = kind.ok_or_else(|| format!("{name:?} has no type that is known"))?;
            if kind == FIXED_LENGTH && element.int(2, 32).is_none_or(|length| length <= 0) {
                return Err(format!("{name:?} has no length"));
            }
            let mut path: Vec<String> = open.iter().skip(1).map(|g| g.name.clone()).collect();
            path.push(name);
            leaves.push(Leaf { path, kind, levels });
        }
        while open.last().is_some_and(|group| group.children_left == 0) {
            open.pop();
        }
    }
    if !open.is_empty() || elements.is_empty() {
        return Err("its schema is not complete".into());
    }
    Ok(leaves)
}

/// Whether the two annotations of a node agree, are complete, and can be those of a group (without
/// `kind`) or of a physical type.
fn means_something(element: &Struct<'_>, kind: Option<i64>) -> bool {
    const BYTES: i64 = 6;
    /// Logical type, the older converted type, and the physical type that it needs.
    const PAIRS: [(i16, i64, Option<i64>); 8] = [
        (1, 0, Some(BYTES)), // text
        (2, 1, None),        // map
        (3, 3, None),        // list
        (4, 4, Some(BYTES)), // enum
        (5, 5, None),        // decimal
        (6, 6, Some(1)),     // date, as 32-bit numbers
        (12, 19, Some(BYTES)),
        (13, 20, Some(BYTES)),
    ];
    /// Only these are groups: map, list, variant.
    const GROUPS: [i16; 3] = [2, 3, 16];
    let Some(logical) = element.fields(10) else { return !element.has(10) };
    let converted = element.int(6, 32);
    let agree = PAIRS.iter().filter(|(id, ..)| logical.has(*id)).all(|(_, old, needs)| {
        converted.is_none_or(|converted| converted == *old)
            && (needs.is_none() || kind.is_none() || *needs == kind)
    });
    let is_groups = GROUPS.iter().any(|id| logical.has(*id));
    let is_leafs = (1..=15).any(|id| !GROUPS.contains(&id) && logical.has(id));
    let fits = if kind.is_some() { !is_groups } else { !is_leafs };
    agree && fits && is_logical(logical)
}

/// Whether a logical type has what it needs: decimals, times and whole numbers are more than names.
fn is_logical(kind: &Struct<'_>) -> bool {
    let decimal = kind.fields(5).is_none_or(|decimal| decimal.has_ints(&[1, 2]));
    let time = |id| kind.fields(id).is_none_or(|t| t.is_bool(1) && t.fields(2).is_some());
    let whole = kind.fields(10).is_none_or(|n| n.int(1, 8).is_some() && n.is_bool(2));
    decimal && time(7) && time(8) && whole
}

/// The message with the Arrow schema: its length and version must be right, or pyarrow takes none
/// of the file.
fn arrow_schema(text: &[u8]) -> Result<(), String> {
    let bad = || "its Arrow schema is damaged".to_owned();
    let bytes = base64(text).ok_or_else(bad)?;
    let word = |at: usize| {
        let word: Option<[u8; 4]> = bytes.get(at..at.checked_add(4)?)?.try_into().ok();
        word.map(u32::from_le_bytes)
    };
    // Older writers leave the mark out.
    let head = if word(0).ok_or_else(bad)? == u32::MAX { 4 } else { 0 };
    let length = word(head).ok_or_else(bad)? as usize;
    let begins = head + 4;
    if bytes.len() - begins < length {
        let left = bytes.len() - begins;
        return Err(format!("its Arrow schema should have {length} bytes, there are {left}"));
    }
    let version = || {
        // A FlatBuffers table: a pointer to it, in it one back to the places of its fields.
        let table = begins.checked_add(word(begins)? as usize)?;
        let back = (word(table)? as i32).checked_neg()?;
        let places = table.checked_add_signed(back as isize)?;
        let half = |at: usize| {
            let half: Option<[u8; 2]> = bytes.get(at..at.checked_add(2)?)?.try_into().ok();
            half.map(u16::from_le_bytes)
        };
        match usize::from(half(places.checked_add(4)?)?) {
            0 => Some(0),
            place => half(table.checked_add(place)?),
        }
    };
    match version() {
        Some(version) if version <= NEWEST_ARROW => Ok(()),
        _ => Err(bad()),
    }
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"=").unwrap_or(text);
    let text = text.strip_suffix(b"=").unwrap_or(text);
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for letter in text {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}
