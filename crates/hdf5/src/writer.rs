//! Writes an HDF5 file from front to back, so that pictures need not be held in memory.
//!
//! Data goes out as it comes, headers of datasets after their data, headers of groups after
//! their members, and the superblock last, over the place kept for it.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression as Level;
use flate2::write::ZlibEncoder;

use crate::chunks::{Chunk, tree};
use crate::encode::{ElementType, Header, Layout, SUPERBLOCK_BYTES, UNDEFINED, superblock};
use crate::{Array, Attr, Hdf5Error, Images};

/// How pictures are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As they are, one after the other.
    None,
    /// Each picture deflated on its own, level 1 (quick) to 9 (small). Lossless.
    Gzip(u32),
}

impl Default for Compression {
    fn default() -> Self {
        Self::Gzip(1)
    }
}

/// Members and attributes of a group, collected until it is written.
#[derive(Default)]
pub(crate) struct GroupParts {
    pub(crate) links: Vec<(String, u64)>,
    pub(crate) attrs: Vec<(String, Attr)>,
}

impl GroupParts {
    pub(crate) fn attr(&mut self, name: &str, value: Option<Attr>) {
        self.attrs.extend(value.map(|v| (name.to_owned(), v)));
    }

    pub(crate) fn link(&mut self, name: &str, address: u64) {
        self.links.push((name.to_owned(), address));
    }
}

/// A file in the making, under a temporary name until [`Writer::finish`].
pub(crate) struct Writer {
    path: PathBuf,
    temporary: PathBuf,
    out: Option<BufWriter<File>>,
    at: u64,
    finished: bool,
}

impl Writer {
    pub(crate) fn create(path: &Path) -> Result<Self, Hdf5Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A hidden name by which `citrange data repair` knows what killed processes leave.
        let temporary = format!(".{name}.citrange-tmp-{}-{count}", std::process::id());
        let temporary = path.with_file_name(temporary);
        let file = File::create(&temporary).map_err(Hdf5Error::io("create", &temporary))?;
        // Locked, it is no leftover. Where files cannot be locked, nobody can tell.
        let _locked = file.try_lock();
        let out = Some(BufWriter::with_capacity(1 << 20, file));
        let mut writer = Self { path: path.to_owned(), temporary, out, at: 0, finished: false };
        writer.write(&[0; SUPERBLOCK_BYTES as usize])?;
        Ok(writer)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Hdf5Error> {
        let Some(out) = self.out.as_mut() else { return Ok(()) };
        out.write_all(bytes).map_err(Hdf5Error::io("write", &self.path))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Starts a block at a multiple of 8 and says where that is.
    fn align(&mut self) -> Result<u64, Hdf5Error> {
        let gap = (8 - self.at % 8) % 8;
        self.write(&[0; 8][..gap as usize])?;
        Ok(self.at)
    }

    fn block(&mut self, bytes: &[u8]) -> Result<u64, Hdf5Error> {
        let address = self.align()?;
        self.write(bytes)?;
        Ok(address)
    }

    /// A dataset of elements that are already bytes.
    pub(crate) fn dataset(
        &mut self,
        name: &str,
        kind: ElementType,
        dims: Option<&[u64]>,
        elements: impl Iterator<Item = impl AsRef<[u8]>>,
    ) -> Result<u64, Hdf5Error> {
        let start = self.align()?;
        for element in elements {
            self.write(element.as_ref())?;
        }
        let bytes = self.at - start;
        let address = if bytes == 0 { UNDEFINED } else { start };
        let layout = Layout::Contiguous { address, bytes };
        let header = Header::dataset(name, kind, dims, &layout)?.finish()?;
        self.block(&header)
    }

    pub(crate) fn numbers(&mut self, name: &str, array: &Array) -> Result<u64, Hdf5Error> {
        let dims: Vec<u64> = array.shape().iter().map(|&d| d as u64).collect();
        let dims = (!dims.is_empty()).then_some(&dims[..]);
        self.dataset(name, ElementType::F64, dims, array.data().iter().map(|v| v.to_le_bytes()))
    }

    /// Numbers rounded to single precision, where the layout has them so.
    pub(crate) fn singles(&mut self, name: &str, array: &Array) -> Result<u64, Hdf5Error> {
        let dims: Vec<u64> = array.shape().iter().map(|&d| d as u64).collect();
        let dims = (!dims.is_empty()).then_some(&dims[..]);
        let rounded = array.data().iter().map(|v| (*v as f32).to_le_bytes());
        self.dataset(name, ElementType::F32, dims, rounded)
    }

    pub(crate) fn list(&mut self, name: &str, values: &[f64]) -> Result<u64, Hdf5Error> {
        let dims = [values.len() as u64];
        self.dataset(name, ElementType::F64, Some(&dims), values.iter().map(|v| v.to_le_bytes()))
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) -> Result<u64, Hdf5Error> {
        let references = self.heap(name, &[text])?;
        self.dataset(name, ElementType::Text, None, std::iter::once(references))
    }

    pub(crate) fn texts(&mut self, name: &str, texts: &[String]) -> Result<u64, Hdf5Error> {
        let references = self.heap(name, texts)?;
        let dims = [texts.len() as u64];
        self.dataset(name, ElementType::Text, Some(&dims), std::iter::once(references))
    }

    pub(crate) fn images(
        &mut self,
        name: &str,
        images: &Images,
        compression: Compression,
    ) -> Result<u64, Hdf5Error> {
        let size = [images.height(), images.width(), images.channels()];
        let dims: Vec<u64> = [images.frames()].iter().chain(&size).map(|&d| d as u64).collect();
        let mut frame = vec![0; images.frame_bytes()];
        let named = |error| match error {
            Hdf5Error::Frame { frame, why, .. } => {
                Hdf5Error::Frame { object: name.into(), frame, why }
            }
            other => other,
        };
        let level = match compression {
            Compression::Gzip(level) if images.frames() > 0 => level.clamp(1, 9),
            _ => {
                let start = self.align()?;
                for index in 0..images.frames() {
                    images.read_frame(index, &mut frame).map_err(named)?;
                    self.write(&frame)?;
                }
                let bytes = self.at - start;
                let address = if bytes == 0 { UNDEFINED } else { start };
                let layout = Layout::Contiguous { address, bytes };
                let header =
                    Header::dataset(name, ElementType::U8, Some(&dims), &layout)?.finish()?;
                return self.block(&header);
            }
        };
        let mut chunks = Vec::with_capacity(images.frames());
        for index in 0..images.frames() {
            images.read_frame(index, &mut frame).map_err(named)?;
            let mut encoder = ZlibEncoder::new(Vec::new(), Level::new(level));
            encoder.write_all(&frame).map_err(Hdf5Error::io("compress", &self.path))?;
            let packed = encoder.finish().map_err(Hdf5Error::io("compress", &self.path))?;
            let bytes = u32::try_from(packed.len()).map_err(|_| {
                Hdf5Error::shape(name, "a picture over 4 GB when deflated", "a smaller one")
            })?;
            let address = self.block(&packed)?;
            chunks.push(Chunk { address, bytes });
        }
        let start = self.align()?;
        let (nodes, address) = tree(&chunks, dims.len(), start);
        self.write(&nodes)?;
        let chunk = [1].into_iter().chain(size.iter().map(|&d| d as u32)).collect();
        let layout = Layout::Gzip { address, chunk, level };
        let header = Header::dataset(name, ElementType::U8, Some(&dims), &layout)?.finish()?;
        self.block(&header)
    }

    /// Stores texts in a global heap and gives back the references to them.
    fn heap(&mut self, name: &str, texts: &[impl AsRef<str>]) -> Result<Vec<u8>, Hdf5Error> {
        const LEAST: usize = 4096;
        const MOST_OBJECTS: usize = 60_000; // indices are u16
        let mut references = Vec::with_capacity(16 * texts.len());
        for texts in texts.chunks(MOST_OBJECTS) {
            let address = self.align()?;
            let mut objects = Vec::new();
            for (text, index) in texts.iter().zip(1u16..) {
                let text = text.as_ref().as_bytes();
                let length = u32::try_from(text.len()).ok().filter(|_| !text.contains(&0));
                let Some(length) = length else {
                    let why = "a text must have no NUL character and less than 4 GB";
                    return Err(Hdf5Error::Unstorable { object: name.into(), why });
                };
                if length == 0 {
                    references.extend([0; 16]);
                    continue;
                }
                references.extend(length.to_le_bytes());
                references.extend(address.to_le_bytes());
                references.extend(u32::from(index).to_le_bytes());
                objects.extend(index.to_le_bytes());
                objects.extend([0; 6]);
                objects.extend(u64::from(length).to_le_bytes());
                objects.extend(text);
                objects.resize(objects.len().next_multiple_of(8), 0);
            }
            if objects.is_empty() {
                continue;
            }
            let total = (16 + objects.len()).max(LEAST);
            let free = total - 16 - objects.len();
            self.write(b"GCOL\x01\0\0\0")?;
            self.write(&(total as u64).to_le_bytes())?;
            self.write(&objects)?;
            // Object 0 is what is left, if its own header fits.
            let mut rest = vec![0; free];
            if free >= 16 {
                rest[8..16].copy_from_slice(&(free as u64).to_le_bytes());
            }
            self.write(&rest)?;
        }
        Ok(references)
    }

    /// Writes a group whose members have been written, and says where it is.
    pub(crate) fn group(&mut self, name: &str, parts: &GroupParts) -> Result<u64, Hdf5Error> {
        let mut header = Header::group(name, &parts.links)?;
        for (key, value) in &parts.attrs {
            let (kind, dims, elements) = match value {
                Attr::Bool(b) => (ElementType::Bool, None, vec![u8::from(*b)]),
                Attr::Int(i) => (ElementType::I64, None, i.to_le_bytes().to_vec()),
                Attr::Unsigned(u) => match i64::try_from(*u) {
                    Ok(i) => (ElementType::I64, None, i.to_le_bytes().to_vec()),
                    Err(_) => (ElementType::U64, None, u.to_le_bytes().to_vec()),
                },
                Attr::Float(f) => (ElementType::F64, None, f.to_le_bytes().to_vec()),
                Attr::Text(text) => (ElementType::Text, None, self.heap(key, &[text])?),
                Attr::Texts(texts) => {
                    (ElementType::Text, Some([texts.len() as u64]), self.heap(key, texts)?)
                }
                Attr::Floats(values) => {
                    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                    (ElementType::F64, Some([values.len() as u64]), bytes)
                }
            };
            header.attribute(key, kind, dims.as_ref().map(|d| &d[..]), &elements)?;
        }
        let header = header.finish()?;
        self.block(&header)
    }

    /// Writes the superblock, waits for the disk, and gives the file its name.
    pub(crate) fn finish(mut self, root: u64) -> Result<(), Hdf5Error> {
        self.align()?;
        let Some(out) = self.out.take() else { return Ok(()) };
        let mut file =
            out.into_inner().map_err(|e| Hdf5Error::io("write", &self.path)(e.into_error()))?;
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&superblock(self.at, root)))
            .and_then(|()| file.sync_all())
            .map_err(Hdf5Error::io("write", &self.path))?;
        // Locked until it has its name.
        std::fs::rename(&self.temporary, &self.path).map_err(Hdf5Error::io("name", &self.path))?;
        drop(file);
        self.finished = true;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.finished {
            // Nobody can use half a file; that it could not be removed helps nobody either.
            self.out = None;
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}
