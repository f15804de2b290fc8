//! Which file is where: numbers in chunks, and the path templates of info.json.

/// Which file of a kind: chunk folder and number inside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Number of the chunk folder.
    pub chunk: usize,
    /// Number inside the folder.
    pub file: usize,
}

impl FileId {
    /// The file after this one.
    pub(crate) fn next(self, chunks_size: usize) -> Self {
        if self.file.saturating_add(1) >= chunks_size {
            Self { chunk: self.chunk.saturating_add(1), file: 0 }
        } else {
            Self { file: self.file + 1, ..self }
        }
    }
}

/// Fills a path template: `{video_key}`, `{chunk_index:03d}`, `{file_index:03d}`.
pub(crate) fn fill(template: &str, key: Option<&str>, id: FileId) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let close = rest[open..].find('}').ok_or_else(|| format!("{template:?} lacks a brace"))?;
        let field = &rest[open + 1..open + close];
        let (name, digits) = match field.split_once(':') {
            None => (field, 0),
            Some((name, "03d")) => (name, 3),
            Some((name, "06d")) => (name, 6),
            Some(_) => return Err(format!("{template:?}: {{{field}}} is not understood")),
        };
        match (name, key) {
            ("chunk_index", _) => out.push_str(&format!("{:0digits$}", id.chunk)),
            ("file_index", _) => out.push_str(&format!("{:0digits$}", id.file)),
            ("video_key", Some(key)) => out.push_str(key),
            _ => return Err(format!("{template:?}: {{{field}}} is not understood")),
        }
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    // A path from a file must stay inside the dataset.
    if out.starts_with('/')
        || out.contains('\\')
        || out.split('/').any(|p| p == ".." || p.is_empty())
    {
        return Err(format!("{template:?} leads out of the dataset"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_filled_and_stay_inside() {
        let id = FileId { chunk: 2, file: 34 };
        assert_eq!(
            fill("v/{video_key}/c-{chunk_index:03d}/f-{file_index:03d}.mp4", Some("a.b"), id),
            Ok("v/a.b/c-002/f-034.mp4".into())
        );
        for bad in
            ["../{file_index}", "/etc/{file_index}", "a//b", "{nope}", "{file_index:3x}", "a{"]
        {
            assert!(fill(bad, None, id).is_err(), "{bad}");
        }
        assert!(fill("{video_key}/x", Some(".."), id).is_err());
    }

    #[test]
    fn chunks_roll_over() {
        let last = FileId { chunk: 0, file: 999 };
        assert_eq!(last.next(1000), FileId { chunk: 1, file: 0 });
        assert_eq!(FileId::default().next(1000), FileId { chunk: 0, file: 1 });
    }
}
