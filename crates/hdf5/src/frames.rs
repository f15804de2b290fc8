//! Pictures of a dataset one at a time: in order without detours, in any order by selection.

use std::sync::{Mutex, PoisonError};

use hdf5_reader::error::Error;
use hdf5_reader::{Dataset, DatasetChunkIterator, SliceInfo, SliceInfoElem};

/// Reads single pictures of a dataset.
pub(crate) struct FrameReader {
    dataset: Dataset,
    /// Where a picture is a chunk, the place that was reached when reading in order.
    next: Option<Mutex<Place>>,
}

#[derive(Default)]
struct Place {
    frame: u64,
    chunks: Option<DatasetChunkIterator>,
}

impl FrameReader {
    pub(crate) fn new(dataset: Dataset) -> Self {
        let chunk = dataset.chunks().unwrap_or_default();
        let a_picture = chunk.len() == dataset.ndim()
            && chunk.first() == Some(&1)
            && chunk.iter().zip(dataset.shape()).skip(1).all(|(&c, &d)| u64::from(c) == d);
        Self { dataset, next: a_picture.then(Mutex::default) }
    }

    /// Reads a picture; false when it does not have the size of the buffer.
    pub(crate) fn read(&self, frame: u64, out: &mut [u8]) -> Result<bool, Error> {
        if let Some(next) = &self.next {
            let mut place = next.lock().unwrap_or_else(PoisonError::into_inner);
            if self.read_next(&mut place, frame, out)? {
                return Ok(true);
            }
        }
        let all = SliceInfoElem::Slice { start: 0, end: u64::MAX, step: 1 };
        let mut selections = vec![all; self.dataset.ndim()];
        if let Some(first) = selections.first_mut() {
            *first = SliceInfoElem::Index(frame);
        }
        let picture = self.dataset.read_slice::<u8>(&SliceInfo { selections })?;
        Ok(picture.as_slice().is_some_and(|bytes| copy(bytes, out)))
    }

    /// Takes the next chunk if that is the picture asked for.
    fn read_next(&self, place: &mut Place, frame: u64, out: &mut [u8]) -> Result<bool, Error> {
        if frame == 0 {
            *place = Place { frame, chunks: Some(self.dataset.iter_chunks()?) };
        }
        if frame != place.frame {
            return Ok(false);
        }
        place.frame += 1;
        let Some(chunk) = place.chunks.as_mut().and_then(Iterator::next) else { return Ok(false) };
        let chunk = chunk?;
        // Chunks that were never written are missing in the sequence.
        let there = chunk.offsets().first() == Some(&frame);
        Ok(there && copy(chunk.bytes(), out))
    }
}

fn copy(bytes: &[u8], out: &mut [u8]) -> bool {
    let fits = bytes.len() == out.len();
    if fits {
        out.copy_from_slice(bytes);
    }
    fits
}
