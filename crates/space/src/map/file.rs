//! A snapshot as a file: what the planner is given, and what is kept of a cell.
//!
//! Eight bytes `CITRMAP` and the format's number, the length of a JSON header (u32), the header,
//! then packed (zlib): 16 bytes per voxel (key, hits, rgb, stamp) and 4 bytes per cell (sight);
//! last a CRC-32 of everything before: a robot moves by this. Numbers are little-endian.

use std::io::{Read as _, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

use crate::error::SpaceError;
use crate::grid::Grid;
use crate::map::snapshot::{MapSnapshot, MapVoxel};

/// The last byte is the format's number.
const MAGIC: [u8; 8] = *b"CITRMAP\x01";
const VOXEL_BYTES: usize = 16;
/// A header longer than this is none.
const MAX_HEADER: usize = 1 << 16;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    tool: String,
    lower_m: [f64; 3],
    upper_m: [f64; 3],
    voxel_m: f64,
    reach_m: f64,
    epoch_ns: u64,
    stamp_ns: u64,
    sequence: u64,
    voxels: usize,
}

impl MapSnapshot {
    /// The file's bytes.
    ///
    /// # Errors
    /// When packing fails.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SpaceError> {
        let header = Header {
            tool: format!("citrange {}", env!("CARGO_PKG_VERSION")),
            lower_m: self.grid.lower_m(),
            upper_m: self.grid.upper_m(),
            voxel_m: self.grid.voxel_m(),
            reach_m: self.reach_m(),
            epoch_ns: self.epoch_ns,
            stamp_ns: self.stamp_ns,
            sequence: self.sequence,
            voxels: self.voxels.len(),
        };
        let packing = |e: std::io::Error| SpaceError::bad("map", format!("cannot be packed: {e}"));
        let header =
            serde_json::to_vec(&header).map_err(|e| SpaceError::bad("map", e.to_string()))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header);
        let mut packed = ZlibEncoder::new(bytes, Compression::fast());
        for voxel in &self.voxels {
            let mut record = [0; VOXEL_BYTES];
            record[..4].copy_from_slice(&voxel.key.to_le_bytes());
            record[4] = voxel.hits;
            record[5..8].copy_from_slice(&voxel.rgb);
            record[8..].copy_from_slice(&voxel.stamp_ns.to_le_bytes());
            packed.write_all(&record).map_err(packing)?;
        }
        for sight in &self.seen {
            packed.write_all(&sight.to_le_bytes()).map_err(packing)?;
        }
        let mut bytes = packed.finish().map_err(packing)?;
        let sum = crc32fast::hash(&bytes);
        bytes.extend(sum.to_le_bytes());
        Ok(bytes)
    }

    /// Reads [`MapSnapshot::to_bytes`]; `name` is for errors.
    ///
    /// # Errors
    /// When these are not the bytes of a map, or only some of them.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, SpaceError> {
        let bad = |reason: &str| SpaceError::bad(name, reason);
        let Some((start, _)) = bytes.split_first_chunk::<8>() else {
            return Err(bad("is no map: it is shorter than 8 bytes"));
        };
        if start[..7] != MAGIC[..7] {
            return Err(bad("is no map: it does not begin with CITRMAP"));
        }
        if *start != MAGIC {
            let reason =
                format!("is a map of format {}, this version reads {}", start[7], MAGIC[7]);
            return Err(SpaceError::bad(name, reason));
        }
        let rest = match bytes.split_last_chunk::<4>() {
            Some((whole, sum)) if crc32fast::hash(whole).to_le_bytes() == *sum => {
                whole.get(MAGIC.len()..).unwrap_or_default()
            }
            _ => return Err(bad("is cut off or damaged: its checksum is another")),
        };
        let Some((length, rest)) = rest.split_first_chunk::<4>() else {
            return Err(bad("ends within its header"));
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_HEADER || length > rest.len() {
            return Err(bad("ends within its header"));
        }
        let (header, packed) = rest.split_at(length);
        let header: Header = serde_json::from_slice(header)
            .map_err(|e| SpaceError::bad(name, format!("header: {e}")))?;
        let grid = Grid::new(header.lower_m, header.upper_m, header.voxel_m)?;
        if header.voxels > grid.cells() {
            return Err(bad("has more voxels than cells"));
        }
        let mut content = vec![0; header.voxels * VOXEL_BYTES + grid.cells() * 4];
        let mut unpacked = ZlibDecoder::new(packed);
        unpacked
            .read_exact(&mut content)
            .map_err(|e| SpaceError::bad(name, format!("is cut off or damaged: {e}")))?;
        if unpacked.read(&mut [0]).ok() != Some(0) {
            return Err(bad("is longer than its header says"));
        }
        let (records, sights) = content.split_at(header.voxels * VOXEL_BYTES);
        let voxels: Vec<MapVoxel> = records.chunks_exact(VOXEL_BYTES).map(voxel).collect();
        if !voxels.is_sorted_by(|a, b| a.key < b.key) {
            return Err(bad("has voxels out of order"));
        }
        let keys: Vec<u32> = voxels.iter().map(|v| v.key).collect();
        let mut snapshot = Self::from_voxels_within(&grid, &keys, header.reach_m)?;
        snapshot.voxels = voxels;
        for (seen, bytes) in snapshot.seen.iter_mut().zip(sights.chunks_exact(4)) {
            *seen = u32::from_le_bytes(std::array::from_fn(|i| bytes[i]));
        }
        snapshot.epoch_ns = header.epoch_ns;
        snapshot.stamp_ns = header.stamp_ns;
        snapshot.sequence = header.sequence;
        Ok(snapshot)
    }

    /// Writes the file: under another name first, so that there is never half a map.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), SpaceError> {
        Ok(citrange_cloud::write_whole(path, &self.to_bytes()?)?)
    }

    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read, or is no map.
    pub fn load(path: &Path) -> Result<Self, SpaceError> {
        let name = path.display().to_string();
        let bytes =
            std::fs::read(path).map_err(|cause| SpaceError::Io { path: name.clone(), cause })?;
        Self::from_bytes(&name, &bytes)
    }
}

fn voxel(record: &[u8]) -> MapVoxel {
    let u64_at = u64::from_le_bytes(std::array::from_fn(|i| record[8 + i]));
    MapVoxel {
        key: u32::from_le_bytes(std::array::from_fn(|i| record[i])),
        hits: record[4],
        rgb: [record[5], record[6], record[7]],
        stamp_ns: u64_at,
    }
}
