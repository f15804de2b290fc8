//! Work shared between threads, piece by piece: who is done takes the next.

use std::sync::{Mutex, PoisonError};

/// Chunks that are taken in one go: few enough that all are busy to the end.
const PIECE: usize = 4;

/// Does `work` on pieces of `values` that are made of whole chunks; it is told the number of the
/// first chunk. With one worker nothing is allocated.
pub(super) fn distribute<W: Send>(
    workers: &mut [W],
    values: &mut [f32],
    chunk: usize,
    work: &(impl Fn(&mut W, usize, &mut [f32]) + Sync),
) {
    if let [worker] = workers {
        return work(worker, 0, values);
    }
    let pieces = Mutex::new(values.chunks_mut((chunk * PIECE).max(1)).enumerate());
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    let next = &next;
    rayon::scope(|scope| {
        for worker in workers {
            scope.spawn(move |_| {
                while let Some((number, piece)) = next() {
                    work(worker, number * PIECE, piece);
                }
            });
        }
    });
}
