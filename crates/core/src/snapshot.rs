//! Snapshot: everything that decides the future, in named f64 fields, in memory and as bytes.
//!
//! Bytes: `CITRSNAP`, format version (u32), header length (u32), header (JSON: who wrote it,
//! engine, model hash, step, names and lengths of the fields), the numbers (f64, little endian,
//! in header order), and the sha256 of all that. Named fields, because an engine's own layout
//! moves between versions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"CITRSNAP";
const FORMAT_VERSION: u32 = 1;
const HASH_BYTES: usize = 32;
const PREFIX_BYTES: usize = MAGIC.len() + 8;

/// The complete state of one environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Citrange version that wrote it.
    pub tool_version: String,
    /// Engine name and version, for example `mujoco 3.17.0`.
    pub engine: String,
    /// Name of the scene, for messages.
    pub scene: String,
    /// Hash of the compiled model.
    pub model_hash: String,
    /// Physics steps since the episode began.
    pub step: u64,
    /// Numbers by name: `mujoco/qpos`, `control/targets`, …
    pub fields: BTreeMap<String, Vec<f64>>,
}

/// Bytes that are not a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Too few bytes.
    #[error("the snapshot is cut off: {found} bytes, {needed} are needed")]
    Truncated {
        /// Bytes there are.
        found: usize,
        /// Bytes that were needed.
        needed: usize,
    },
    /// It does not start like one.
    #[error("these bytes are not a Citrange snapshot")]
    NotASnapshot,
    /// A newer format.
    #[error("the snapshot has format {0}; this Citrange reads format {FORMAT_VERSION}: update it")]
    Version(u32),
    /// Checksum or header do not fit.
    #[error("the snapshot is damaged: {0}")]
    Damaged(String),
}

#[derive(Serialize, Deserialize)]
struct Header {
    tool_version: String,
    engine: String,
    scene: String,
    model_hash: String,
    step: u64,
    fields: Vec<(String, usize)>,
}

impl Snapshot {
    /// Writes the snapshot as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = Header {
            tool_version: self.tool_version.clone(),
            engine: self.engine.clone(),
            scene: self.scene.clone(),
            model_hash: self.model_hash.clone(),
            step: self.step,
            fields: self.fields.iter().map(|(name, v)| (name.clone(), v.len())).collect(),
        };
        // A struct of strings and integers always has a JSON form.
        let header = serde_json::to_vec(&header).unwrap_or_default();
        let mut bytes =
            Vec::with_capacity(PREFIX_BYTES + header.len() + 8 * self.count() + HASH_BYTES);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&header);
        for value in self.fields.values().flatten() {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        bytes
    }

    fn count(&self) -> usize {
        self.fields.values().map(Vec::len).sum()
    }

    /// Reads a snapshot; the numbers come back bit for bit.
    ///
    /// # Errors
    /// When the bytes are cut off, damaged, of a newer format, or something else altogether.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let truncated = |needed| SnapshotError::Truncated { found: bytes.len(), needed };
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            return Err(SnapshotError::NotASnapshot);
        }
        let word = |at: usize| {
            let slice = bytes.get(at..at + 4).ok_or_else(|| truncated(PREFIX_BYTES))?;
            Ok(u32::from_le_bytes([slice[0], slice[1], slice[2], slice[3]]))
        };
        let version = word(MAGIC.len())?;
        if version != FORMAT_VERSION {
            return Err(SnapshotError::Version(version));
        }
        let header_end = PREFIX_BYTES + word(MAGIC.len() + 4)? as usize;
        let header = bytes
            .get(PREFIX_BYTES..header_end)
            .ok_or_else(|| truncated(header_end + HASH_BYTES))?;
        let header: Header = serde_json::from_slice(header)
            .map_err(|e| SnapshotError::Damaged(format!("header: {e}")))?;
        let count = header.fields.iter().try_fold(0usize, |sum, (_, n)| sum.checked_add(*n));
        let needed = count
            .and_then(|n| n.checked_mul(8))
            .and_then(|n| n.checked_add(header_end + HASH_BYTES))
            .ok_or_else(|| SnapshotError::Damaged("impossible field lengths".into()))?;
        if bytes.len() < needed {
            return Err(truncated(needed));
        }
        if bytes.len() > needed {
            return Err(SnapshotError::Damaged(format!("{} bytes too many", bytes.len() - needed)));
        }
        let (body, hash) = bytes.split_at(needed - HASH_BYTES);
        if Sha256::digest(body).as_slice() != hash {
            return Err(SnapshotError::Damaged("the checksum does not match".into()));
        }
        let mut numbers = body[header_end..]
            .chunks_exact(8)
            .map(|c| f64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]));
        let fields = header
            .fields
            .into_iter()
            .map(|(name, n)| (name, numbers.by_ref().take(n).collect()))
            .collect();
        Ok(Self {
            tool_version: header.tool_version,
            engine: header.engine,
            scene: header.scene,
            model_hash: header.model_hash,
            step: header.step,
            fields,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Snapshot {
        Snapshot {
            tool_version: "0.1.0".into(),
            engine: "mujoco 3.17.0".into(),
            scene: "t".into(),
            model_hash: "abc".into(),
            step: 42,
            fields: BTreeMap::from([
                ("mujoco/qpos".into(), vec![0.1, -0.0, f64::MIN_POSITIVE / 8.0]),
                ("mujoco/time".into(), vec![1.0 / 3.0]),
                ("empty".into(), vec![]),
            ]),
        }
    }

    #[test]
    fn bytes_bring_back_every_bit() {
        let snapshot = sample();
        let back = Snapshot::from_bytes(&snapshot.to_bytes()).unwrap();
        assert_eq!(back, snapshot);
        assert_eq!(back.to_bytes(), snapshot.to_bytes());
        assert!(back.fields["mujoco/qpos"][1].is_sign_negative());
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let bytes = sample().to_bytes();
        for length in 0..bytes.len() {
            let error = Snapshot::from_bytes(&bytes[..length]).unwrap_err();
            assert!(matches!(error, SnapshotError::Truncated { .. }), "{length}: {error}");
        }
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1 << (index % 8);
            assert!(Snapshot::from_bytes(&damaged).is_err(), "byte {index}");
        }
    }

    #[test]
    fn newer_formats_are_named() {
        let mut bytes = sample().to_bytes();
        bytes[8] = 9;
        assert_eq!(Snapshot::from_bytes(&bytes), Err(SnapshotError::Version(9)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer(tail in proptest::collection::vec(any::<u8>(), 0..200), good: bool) {
            let mut bytes = if good { MAGIC.to_vec() } else { Vec::new() };
            if good { bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes()); }
            bytes.extend(tail);
            prop_assert!(Snapshot::from_bytes(&bytes).is_err());
        }
    }
}
