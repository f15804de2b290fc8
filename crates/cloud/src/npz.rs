//! Clouds in NumPy's `.npz`: arrays `xyz` or `depth`, and `rgb`, `label`, `stamp_ns` if they are
//! there.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::contents::Contents;
use super::depth_file::{self, DepthCamera, DepthNumbers};
use super::npy::{self, Array};
use crate::cloud::{Cloud, Points};
use crate::error::CloudError;

/// Deflate cannot pack tighter than this: an archive that claims more lies.
const MAX_RATIO: u64 = 1032;
/// Larger arrays are refused: 30 times the largest picture that cameras take.
const MAX_ARRAY_BYTES: u64 = 1 << 30;

/// Reads the archive.
///
/// # Errors
/// Names the array and what is wrong with it.
pub(super) fn read(
    file: &str,
    bytes: &[u8],
    camera: DepthCamera<'_>,
) -> Result<Contents, CloudError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|e| CloudError::bad(file, format!("is no .npz (zip) archive: {e}")))?;
    let mut entry = |name: &str| entry(file, &mut archive, bytes.len(), name);
    let (xyz, depth) = (entry("xyz")?, entry("depth")?);
    let (rgb, label, stamp) = (entry("rgb")?, entry("label")?, entry("stamp_ns")?);
    let (xyz_m, rows, columns) = match (xyz, depth) {
        (Some(xyz), _) => points(&Array::read(format!("{file}: xyz"), &xyz)?)?,
        (None, Some(depth)) => {
            let depth = Array::read(format!("{file}: depth"), &depth)?;
            let (numbers, [width, height]) = depths(&depth)?;
            let cloud = depth_file::points(file, [width, height], &numbers, camera)?.cloud;
            (cloud.xyz_m, height, width)
        }
        (None, None) => {
            let reason = "has no array xyz of shape (N, 3) or (H, W, 3), nor depth of (H, W)";
            return Err(CloudError::bad(file, reason));
        }
    };
    let len = rows * columns;
    let rgb = match rgb {
        Some(bytes) => colours(&Array::read(format!("{file}: rgb"), &bytes)?, len)?,
        None => Vec::new(),
    };
    let labels = match label {
        Some(bytes) => Some(labels(&Array::read(format!("{file}: label"), &bytes)?, len)?),
        None => None,
    };
    let stamp_ns = match stamp {
        Some(bytes) => {
            let array = Array::read(format!("{file}: stamp_ns"), &bytes)?;
            let number = array.single_u64();
            number.ok_or_else(|| array.bad("must be one uint64, nanoseconds"))?
        }
        None => 0,
    };
    let cloud = Cloud::new(xyz_m, rgb, columns, stamp_ns)?;
    Ok(Contents { cloud, labels, organised: rows != 1 })
}

/// Depths of a picture: whole numbers of 16 bits, or metres.
fn depths(depth: &Array<'_>) -> Result<(DepthNumbers, [usize; 2]), CloudError> {
    let size = depth.picture().filter(|_| depth.is_float() || depth.is_u16());
    let Some([rows, columns]) = size else {
        let reason = format!(
            "is {} of shape {:?}, must be uint16, float32 or float64 of shape (H, W)",
            depth.kind(),
            depth.shape
        );
        return Err(depth.bad(reason));
    };
    let len = rows * columns;
    let numbers = if depth.is_float() {
        DepthNumbers::Metres((0..len).map(|p| depth.float_at(p, columns)).collect())
    } else {
        DepthNumbers::Whole((0..len).map(|p| depth.u16_at(p, columns)).collect())
    };
    Ok((numbers, [columns, rows]))
}

type PointRows = (Vec<[f32; 3]>, usize, usize);

/// Points with their rows and columns.
fn points(xyz: &Array<'_>) -> Result<PointRows, CloudError> {
    let shape = xyz.pixels(3).filter(|_| xyz.is_float());
    let Some((rows, columns)) = shape else {
        let reason = format!(
            "is {} of shape {:?}, must be float32 or float64 of shape (N, 3) or (H, W, 3)",
            xyz.kind(),
            xyz.shape
        );
        return Err(xyz.bad(reason));
    };
    let len = rows * columns;
    let xyz_m = (0..len).map(|p| std::array::from_fn(|a| xyz.float(p, a, 3))).collect();
    Ok((xyz_m, rows, columns))
}

/// The bytes of an array; `None` if there is none of that name.
fn entry(
    file: &str,
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    file_bytes: usize,
    name: &str,
) -> Result<Option<Vec<u8>>, CloudError> {
    let what = format!("{file}: {name}");
    let entry_name = format!("{name}.npy");
    if archive.index_for_name(&entry_name).is_none() {
        return Ok(None);
    }
    let mut entry = archive
        .by_name(&entry_name)
        .map_err(|e| CloudError::bad(&what, format!("cannot be unpacked: {e}")))?;
    let (packed, size) = (entry.compressed_size(), entry.size());
    let most = match entry.compression() {
        CompressionMethod::Stored => packed,
        _ => packed.saturating_mul(MAX_RATIO),
    };
    if packed > file_bytes as u64 || size > most {
        let reason = format!("claims {size} bytes from {packed} packed ones, which cannot be");
        return Err(CloudError::bad(&what, reason));
    }
    if size > MAX_ARRAY_BYTES {
        let reason = format!("has {size} bytes, more than {MAX_ARRAY_BYTES} are not read");
        return Err(CloudError::bad(&what, reason));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    let read = (&mut entry).take(size).read_to_end(&mut bytes);
    read.map_err(|e| CloudError::bad(&what, format!("cannot be unpacked: {e}")))?;
    // One read beyond: this is where the checksum is compared.
    let beyond = entry.read(&mut [0]);
    let beyond = beyond.map_err(|e| CloudError::bad(&what, format!("cannot be unpacked: {e}")))?;
    if bytes.len() as u64 != size || beyond != 0 {
        let reason = format!("unpacks to another size than the {size} bytes it claims");
        return Err(CloudError::bad(&what, reason));
    }
    Ok(Some(bytes))
}

fn colours(rgb: &Array<'_>, len: usize) -> Result<Vec<[u8; 3]>, CloudError> {
    let fits = rgb.pixels(3).is_some_and(|(rows, columns)| rows * columns == len);
    if !fits {
        let reason = format!("has shape {:?}, must have 3 numbers for {len} points", rgb.shape);
        return Err(rgb.bad(reason));
    }
    if rgb.is_u8() {
        return Ok((0..len).map(|p| std::array::from_fn(|c| rgb.byte(p, c, 3))).collect());
    }
    if !rgb.is_float() {
        return Err(rgb.bad(format!("is {}, must be uint8 or float from 0 to 1", rgb.kind())));
    }
    let byte = |p, c| (rgb.float(p, c, 3).clamp(0.0, 1.0) * 255.0).round() as u8;
    Ok((0..len).map(|p| std::array::from_fn(|c| byte(p, c))).collect())
}

fn labels(label: &Array<'_>, len: usize) -> Result<Vec<u8>, CloudError> {
    let Some(found) = label.flat_bytes() else {
        return Err(label.bad(format!("is {}, must be uint8 in C order", label.kind())));
    };
    if found.len() != len {
        return Err(label.bad(format!("has {} labels for {len} points", found.len())));
    }
    Ok(found.to_vec())
}

/// The archive of a cloud, deflated; (H, W, 3) for a picture.
///
/// # Errors
/// When the archive cannot be packed.
pub(super) fn write(
    file: &str,
    cloud: &Cloud,
    labels: Option<&[u8]>,
) -> Result<Vec<u8>, CloudError> {
    let rows = cloud.height();
    let pixels = if rows == 1 { vec![cloud.width] } else { vec![rows, cloud.width] };
    let mut with_channels = pixels.clone();
    with_channels.push(3);
    let mut arrays = vec![("xyz", NpzArray::F32(cloud.xyz_m.as_flattened(), &with_channels))];
    if !cloud.rgb.is_empty() {
        arrays.push(("rgb", NpzArray::U8(cloud.rgb.as_flattened(), &with_channels)));
    }
    if let Some(labels) = labels {
        arrays.push(("label", NpzArray::U8(labels, &pixels)));
    }
    let stamp = [cloud.stamp_ns];
    arrays.push(("stamp_ns", NpzArray::U64(&stamp, &[])));
    pack(file, &arrays)
}

/// Numbers in C order, and the sizes of the array that they fill.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the types of the numbers")]
pub enum NpzArray<'a> {
    U8(&'a [u8], &'a [usize]),
    U32(&'a [u32], &'a [usize]),
    U64(&'a [u64], &'a [usize]),
    F32(&'a [f32], &'a [usize]),
    F64(&'a [f64], &'a [usize]),
}

impl NpzArray<'_> {
    fn npy(&self) -> Vec<u8> {
        match *self {
            Self::U8(values, shape) => npy::write("|u1", shape, values),
            Self::U32(values, shape) => npy::write("<u4", shape, &le(values, u32::to_le_bytes)),
            Self::U64(values, shape) => npy::write("<u8", shape, &le(values, u64::to_le_bytes)),
            Self::F32(values, shape) => npy::write("<f4", shape, &le(values, f32::to_le_bytes)),
            Self::F64(values, shape) => npy::write("<f8", shape, &le(values, f64::to_le_bytes)),
        }
    }
}

fn le<T: Copy, const N: usize>(values: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|v| bytes(*v)).collect()
}

/// Writes named arrays as one file that `numpy.load` opens.
///
/// # Errors
/// When it cannot be written.
pub fn write_npz(path: &Path, arrays: &[(&str, NpzArray<'_>)]) -> Result<(), CloudError> {
    crate::whole_file::write_whole(path, &pack(&path.display().to_string(), arrays)?)
}

fn pack(file: &str, arrays: &[(&str, NpzArray<'_>)]) -> Result<Vec<u8>, CloudError> {
    let fail = |reason: String| CloudError::bad(file, format!("cannot be packed: {reason}"));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, array) in arrays {
        zip.start_file(format!("{name}.npy"), options).map_err(|e| fail(e.to_string()))?;
        zip.write_all(&array.npy()).map_err(|e| fail(e.to_string()))?;
    }
    Ok(zip.finish().map_err(|e| fail(e.to_string()))?.into_inner())
}
