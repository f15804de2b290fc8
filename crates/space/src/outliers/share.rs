//! Work shared between threads, in pieces that follow one another.

/// Does `work` on consecutive pieces of `values`, one per worker. A piece is made of whole chunks,
/// cut where the weights of the chunks (all the same if there are none) are shared evenly.
pub(super) fn share<W: Send>(
    workers: &mut [W],
    values: &mut [f32],
    chunk: usize,
    weights: &[u32],
    work: &(impl Fn(&mut W, usize, &mut [f32]) + Sync),
) {
    split(workers, values, Chunks { first: 0, size: chunk, weights }, work);
}

#[derive(Clone, Copy)]
struct Chunks<'a> {
    /// Number of the first chunk.
    first: usize,
    size: usize,
    weights: &'a [u32],
}

fn split<W: Send>(
    workers: &mut [W],
    values: &mut [f32],
    chunks: Chunks<'_>,
    work: &(impl Fn(&mut W, usize, &mut [f32]) + Sync),
) {
    match workers {
        [] => return,
        [worker] => return work(worker, chunks.first, values),
        _ => {}
    }
    let left_workers = workers.len() / 2;
    let cut = chunks.cut(left_workers, workers.len(), values.len() / chunks.size.max(1));
    let (left, right) = workers.split_at_mut(left_workers);
    let (left_values, right_values) = values.split_at_mut(cut * chunks.size);
    let right_chunks = Chunks {
        first: chunks.first + cut,
        weights: chunks.weights.get(cut..).unwrap_or_default(),
        ..chunks
    };
    rayon::join(
        || split(left, left_values, chunks, work),
        || split(right, right_values, right_chunks, work),
    );
}

impl Chunks<'_> {
    /// How many of `all` chunks make `part / whole` of the weight.
    fn cut(&self, part: usize, whole: usize, all: usize) -> usize {
        let weights = self.weights.get(..all).unwrap_or_default();
        if weights.is_empty() {
            return all * part / whole;
        }
        let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
        let wanted = total * part as u64 / whole as u64;
        let mut sum = 0;
        weights
            .iter()
            .take_while(|&&w| {
                sum += u64::from(w);
                sum <= wanted
            })
            .count()
    }
}
