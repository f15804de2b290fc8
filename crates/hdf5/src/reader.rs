//! Reads HDF5 files of anybody: every call into the parser goes through one guard, and no
//! dataset is read before its size was compared with that of the file.

use std::collections::BTreeMap;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hdf5_reader::error::Error;
use hdf5_reader::group::Group;
use hdf5_reader::{Dataset, FileStorage, FilterRegistry, Hdf5File, OpenOptions};

use crate::decode::{attr, numbers, type_name};
use crate::frames::FrameReader;
use crate::{Array, Attr, Hdf5Error, Images, Series};

/// Deflate makes bytes at most this much smaller.
const MOST_DEFLATED: u64 = 1032;
/// No chunk or array of numbers is larger; pictures are read one at a time.
const MOST_BYTES: u64 = 4 << 30;
const MOST_CHUNK_BYTES: u64 = 256 << 20;

/// Members that are looked for by name where a group cannot be listed.
const KNOWN: [&str; 35] = [
    "observations",
    "action",
    "images",
    "data",
    "mask",
    "obs",
    "next_obs",
    "states",
    "actions",
    "rewards",
    "dones",
    "joint_pos",
    "front",
    "wrist",
    "model_xml",
    "initial_state",
    "initial_state_data",
    "timestamps",
    "camera_images",
    "robot_states",
    "gripper_states",
    "observables",
    "citrange",
    "qpos",
    "qvel",
    "time",
    "body_pos",
    "body_rot",
    "body_names",
    "robot0_joint_pos",
    "robot0_joint_vel",
    "robot0_gripper_qpos",
    "robot0_eef_pos",
    "robot0_eef_quat",
    "object",
];

/// An open file.
#[derive(Clone)]
pub(crate) struct Source {
    path: PathBuf,
    file: Arc<Hdf5File>,
    bytes: u64,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self, Hdf5Error> {
        let io = |e| Hdf5Error::io("open", path)(e);
        let mut file = std::fs::File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let Some(at) = signature(&mut file, bytes).map_err(io)? else {
            return Err(Hdf5Error::NotHdf5 { path: path.into() });
        };
        if let Some(expected) = said_bytes(&mut file, at).map_err(io)?
            && expected > bytes
        {
            return Err(Hdf5Error::Truncated { bytes, expected, path: path.into() });
        }
        let most = bytes.saturating_mul(MOST_DEFLATED).min(MOST_BYTES);
        let usize_of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let options = OpenOptions::default()
            .with_max_read_bytes(usize_of(most))
            .with_max_chunk_bytes(usize_of(most.min(MOST_CHUNK_BYTES)))
            .with_max_object_header_bytes(usize_of(bytes.min(16 << 20)))
            .with_filter_registry(filters(usize_of(most.min(MOST_CHUNK_BYTES))));
        let file = guard(path, "/", || {
            let storage = Arc::new(FileStorage::from_file(file)?);
            Hdf5File::from_storage_with_options(storage, options)
        })?;
        Ok(Self { path: path.into(), file: Arc::new(file), bytes })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn root(&self) -> Result<Node, Hdf5Error> {
        let group = guard(&self.path, "/", || self.file.root_group())?;
        Node::new(self.clone(), group, String::new())
    }
}

/// Filters of the format, and h5py's.
fn filters(most: usize) -> FilterRegistry {
    let mut filters = FilterRegistry::new();
    // The third value of the filter is the length of the chunk, where h5py knew it.
    let lzf = move |filter: &hdf5_core::FilterDescription, packed: &[u8], _: usize| {
        let chunk = filter.client_data.get(2).map_or(most, |n| (*n as usize).min(most));
        let chunk = if chunk == 0 { most } else { chunk };
        crate::lzf::unpack(packed, chunk).map_err(Error::DecompressionError)
    };
    filters.register(crate::lzf::FILTER, Box::new(lzf));
    filters
}

/// Where the signature is: at the start, or behind a user block of 512, 1024, … bytes.
fn signature(file: &mut std::fs::File, bytes: u64) -> std::io::Result<Option<u64>> {
    use std::io::{Seek, SeekFrom};
    const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";
    let mut at = 0;
    while at + 8 <= bytes {
        let mut found = [0; 8];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut found)?;
        if &found == SIGNATURE {
            return Ok(Some(at));
        }
        at = if at == 0 { 512 } else { at * 2 };
    }
    Ok(None)
}

/// How long the superblock says that the file is; `None` when it does not say so in 8 bytes.
fn said_bytes(file: &mut std::fs::File, at: u64) -> std::io::Result<Option<u64>> {
    use std::io::{Seek, SeekFrom};
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(64).read_to_end(&mut head)?;
    let Some(version) = head.get(8) else { return Ok(None) };
    // Base address, one other address, end of file: 8 bytes each from here on.
    let (size, first) = match version {
        0 => (13, 24),
        1 => (13, 28),
        _ => (9, 12),
    };
    let word = |at: usize| {
        let bytes = head.get(at..at + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    if head.len() < first + 24 {
        // Not even the superblock is whole.
        return Ok(Some(at + first as u64 + 24));
    }
    let whole = head.get(size) == Some(&8);
    Ok(word(first + 16).filter(|end| whole && *end != u64::MAX))
}

/// Runs a piece of the parser; what it cannot take becomes an error that names the object.
fn guard<T>(
    path: &Path,
    object: &str,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Hdf5Error> {
    let damaged =
        |what: String| Hdf5Error::Damaged { object: object.into(), what, path: path.into() };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(match unsupported(&error) {
            Some(what) => Hdf5Error::Unsupported { object: object.into(), what, path: path.into() },
            None => damaged(error.to_string()),
        }),
        Err(_) => Err(damaged("the parser gave up".into())),
    }
}

/// What a part is that others may read and we do not; `None` for damage.
fn unsupported(error: &Error) -> Option<String> {
    match error {
        Error::UnsupportedLayoutClass(3) => Some(
            "a virtual dataset, whose numbers are in other files; h5repack makes it plain".into(),
        ),
        Error::UnsupportedFilter(what) => {
            Some(format!("compressed in a way not known here ({what}); gzip and lzf are"))
        }
        Error::Context { source, .. } => unsupported(source),
        _ => None,
    }
}

/// Takes what could be read; what is of a kind not read here is noted and left out.
pub(crate) fn or_leave<T>(
    read: Result<Option<T>, Hdf5Error>,
    unread: &mut BTreeMap<String, String>,
) -> Result<Option<T>, Hdf5Error> {
    match read {
        Err(Hdf5Error::Unsupported { object, what, .. }) => {
            unread.insert(object, what);
            Ok(None)
        }
        other => other,
    }
}

/// A group of an open file.
#[derive(Clone)]
pub(crate) struct Node {
    source: Source,
    group: Group,
    at: String,
    pub(crate) groups: Vec<String>,
    pub(crate) datasets: Vec<String>,
    /// Why members with other names than those known here may be missing.
    incomplete: Option<String>,
}

impl Node {
    fn new(source: Source, group: Group, at: String) -> Result<Self, Hdf5Error> {
        let name = if at.is_empty() { "/" } else { &at };
        match guard(&source.path, name, || group.member_names()) {
            Ok((groups, datasets)) => {
                Ok(Self { source, group, at, groups, datasets, incomplete: None })
            }
            // The parser lists all or nothing; by their names it finds the others.
            Err(Hdf5Error::Unsupported { what, .. }) => Self::of_known(source, group, at, &what),
            Err(error) => Err(error),
        }
    }

    fn of_known(source: Source, group: Group, at: String, why: &str) -> Result<Self, Hdf5Error> {
        let (mut groups, mut datasets) = (Vec::new(), Vec::new());
        for name in KNOWN {
            let object = format!("{at}/{name}");
            if guard(&source.path, &object, || group.group(name)).is_ok() {
                groups.push(name.to_owned());
                continue;
            }
            match guard(&source.path, &object, || group.dataset(name)) {
                // What it is instead is told when it is read.
                Ok(_) | Err(Hdf5Error::Unsupported { .. }) => datasets.push(name.to_owned()),
                Err(_) => {}
            }
        }
        let incomplete = Some(format!("a part of it is {why}; only known names were looked for"));
        Ok(Self { source, group, at, groups, datasets, incomplete })
    }

    /// Notes a group of which there may be more than was found.
    pub(crate) fn note_incomplete(&self, unread: &mut BTreeMap<String, String>) {
        if let Some(why) = &self.incomplete {
            let at = if self.at.is_empty() { "/" } else { &self.at };
            unread.insert(at.to_owned(), why.clone());
        }
    }

    /// Path of a member inside the file.
    pub(crate) fn path_of(&self, name: &str) -> String {
        format!("{}/{name}", self.at)
    }

    pub(crate) fn group(&self, name: &str) -> Result<Option<Self>, Hdf5Error> {
        if !self.groups.iter().any(|g| g == name) {
            return Ok(None);
        }
        let at = self.path_of(name);
        let group = guard(&self.source.path, &at, || self.group.group(name))?;
        Self::new(self.source.clone(), group, at).map(Some)
    }

    /// Attributes that have a type known here; others are left out.
    pub(crate) fn attrs(&self) -> Result<BTreeMap<String, Attr>, Hdf5Error> {
        let at = format!("{} (attributes)", self.path_of(""));
        guard(&self.source.path, &at, || {
            let attributes = self.group.attributes()?;
            Ok(attributes.iter().filter_map(|a| Some((a.name.clone(), attr(a)?))).collect())
        })
    }

    fn dataset(&self, name: &str) -> Result<Option<Dataset>, Hdf5Error> {
        if !self.datasets.iter().any(|d| d == name) {
            return Ok(None);
        }
        guard(&self.source.path, &self.path_of(name), || self.group.dataset(name)).map(Some)
    }

    /// Refuses datasets that claim more bytes than the file can hold.
    fn check_size(&self, name: &str, dataset: &Dataset) -> Result<(), Hdf5Error> {
        let object = self.path_of(name);
        let bytes = guard(&self.source.path, &object, || dataset.raw_byte_len())? as u64;
        let packed = dataset.chunks().is_some();
        let most = if packed {
            self.source.bytes.saturating_mul(MOST_DEFLATED)
        } else {
            self.source.bytes
        };
        if bytes > most {
            let what = format!("it claims {bytes} bytes in a file of {}", self.source.bytes);
            return Err(Hdf5Error::Damaged { object, what, path: self.source.path.clone() });
        }
        Ok(())
    }

    fn wrong_type(&self, name: &str, dataset: &Dataset, wanted: &'static str) -> Hdf5Error {
        Hdf5Error::Type {
            object: self.path_of(name),
            found: format!("{} of shape {:?}", type_name(dataset.dtype()), dataset.shape()),
            wanted,
            path: self.source.path.clone(),
        }
    }

    /// Whether a dataset holds numbers.
    pub(crate) fn is_numeric(&self, name: &str) -> Result<bool, Hdf5Error> {
        let dataset = self.dataset(name)?;
        Ok(dataset.is_some_and(|d| numbers(d.dtype(), &[]).is_some()))
    }

    /// A dataset of numbers.
    pub(crate) fn numbers(&self, name: &str) -> Result<Option<Array>, Hdf5Error> {
        let Some(dataset) = self.dataset(name)? else { return Ok(None) };
        if numbers(dataset.dtype(), &[]).is_none() {
            return Err(self.wrong_type(name, &dataset, "numbers"));
        }
        self.check_size(name, &dataset)?;
        let raw = guard(&self.source.path, &self.path_of(name), || dataset.read_raw_bytes())?;
        let values = numbers(dataset.dtype(), &raw).unwrap_or_default();
        if values.is_empty() && dataset.shape().is_empty() {
            return Ok(None); // h5py's Empty: a type without a value
        }
        let shape = dataset.shape().iter().map(|&d| usize::try_from(d).unwrap_or(usize::MAX));
        Array::new(shape.collect(), values)
            .map(Some)
            .map_err(|_| self.wrong_type(name, &dataset, "as many numbers as its shape says"))
    }

    /// A dataset of numbers as a plain list, whatever its shape.
    pub(crate) fn list(&self, name: &str) -> Result<Option<Vec<f64>>, Hdf5Error> {
        Ok(self.numbers(name)?.map(Array::into_data))
    }

    /// A dataset of flags: booleans or numbers, where anything but 0 is true.
    pub(crate) fn flags(&self, name: &str) -> Result<Option<Vec<bool>>, Hdf5Error> {
        Ok(self.list(name)?.map(|values| values.iter().map(|v| *v != 0.0).collect()))
    }

    /// A dataset of bytes, such as a file within the file.
    pub(crate) fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, Hdf5Error> {
        let Some(dataset) = self.dataset(name)? else { return Ok(None) };
        if type_name(dataset.dtype()) != "u8" {
            return Err(self.wrong_type(name, &dataset, "bytes (u8)"));
        }
        self.check_size(name, &dataset)?;
        guard(&self.source.path, &self.path_of(name), || dataset.read_raw_bytes()).map(Some)
    }

    /// A dataset of texts.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Hdf5Error> {
        let Some(dataset) = self.dataset(name)? else { return Ok(None) };
        if type_name(dataset.dtype()) != "text" {
            return Err(self.wrong_type(name, &dataset, "text"));
        }
        self.check_size(name, &dataset)?;
        guard(&self.source.path, &self.path_of(name), || dataset.read_strings()).map(Some)
    }

    /// A dataset of one text.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Hdf5Error> {
        let Some(texts) = self.texts(name)? else { return Ok(None) };
        match <[String; 1]>::try_from(texts) {
            Ok([text]) => Ok(Some(text)),
            Err(texts) => Err(Hdf5Error::Type {
                object: self.path_of(name),
                found: format!("{} texts", texts.len()),
                wanted: "one text",
                path: self.source.path.clone(),
            }),
        }
    }

    /// A dataset of pictures: bytes in four dimensions. They stay in the file.
    pub(crate) fn images(&self, name: &str) -> Result<Option<Images>, Hdf5Error> {
        let Some(dataset) = self.dataset(name)? else { return Ok(None) };
        let wrong = || self.wrong_type(name, &dataset, "pictures (u8 of 4 dimensions)");
        let dims: Option<Vec<usize>> =
            dataset.shape().iter().map(|&d| usize::try_from(d).ok()).collect();
        let Some([frames, height, width, channels]) = dims.as_deref() else { return Err(wrong()) };
        if type_name(dataset.dtype()) != "u8" {
            return Err(wrong());
        }
        self.check_size(name, &dataset)?;
        let (path, object) = (self.source.path.clone(), self.path_of(name));
        let reader = FrameReader::new(dataset.clone());
        let fill = move |index: usize, out: &mut [u8]| {
            if guard(&path, &object, || reader.read(index as u64, out))? {
                return Ok(());
            }
            let what = format!("frame {index} has another size than the others");
            Err(Hdf5Error::Damaged { object: object.clone(), what, path: path.clone() })
        };
        Images::with_source(*frames, [*height, *width, *channels], fill)
            .map(Some)
            .map_err(|_| wrong())
    }

    /// All datasets of the group as series; the paths of those that are neither numbers nor
    /// pictures are added to `skipped`, of those that cannot be read here to `unread`.
    pub(crate) fn series(
        &self,
        skipped: &mut Vec<String>,
        unread: &mut BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, Series>, Hdf5Error> {
        self.note_incomplete(unread);
        let mut all = BTreeMap::new();
        for name in &self.datasets {
            match or_leave(self.one_series(name), unread)? {
                Some(series) => drop(all.insert(name.clone(), series)),
                None if unread.contains_key(&self.path_of(name)) => {}
                None => skipped.push(self.path_of(name)),
            }
        }
        skipped.extend(self.groups.iter().map(|name| self.path_of(name)));
        Ok(all)
    }

    fn one_series(&self, name: &str) -> Result<Option<Series>, Hdf5Error> {
        let Some(dataset) = self.dataset(name)? else { return Ok(None) };
        Ok(if type_name(dataset.dtype()) == "u8" && dataset.ndim() == 4 {
            self.images(name)?.map(Series::Images)
        } else if numbers(dataset.dtype(), &[]).is_some() {
            self.numbers(name)?.map(Series::Numbers)
        } else {
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_parser_cannot_take_names_the_object() {
        let error = guard::<()>(Path::new("a.h5"), "/actions", || panic!("on purpose"));
        let error = error.unwrap_err().to_string();
        assert_eq!(error, "cannot read `/actions`: the parser gave up: a.h5");
    }
}
