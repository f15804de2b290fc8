//! A set of small numbers that comes out in order: no sort, no walk over what is not there.

/// Numbers below a limit. One bit per number, and one bit per word that is not 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeySet {
    words: Vec<u64>,
    filled: Vec<u64>,
}

impl KeySet {
    /// An empty set of numbers below `limit`.
    pub(crate) fn new(limit: usize) -> Self {
        let words = limit.div_ceil(64);
        Self { words: vec![0; words], filled: vec![0; words.div_ceil(64)] }
    }

    /// Adds a number.
    pub(crate) fn insert(&mut self, key: u32) {
        let word = key as usize / 64;
        self.words[word] |= 1 << (key % 64);
        self.filled[word / 64] |= 1 << (word % 64);
    }

    /// Calls `visit` with each number, from the smallest to the largest.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u32)) {
        for (block, filled) in self.filled.iter().enumerate() {
            for word in bits(*filled).map(|bit| block as u32 * 64 + bit) {
                bits(self.words[word as usize]).for_each(|bit| visit(word * 64 + bit));
            }
        }
    }

    /// The same, and forgets them.
    pub(crate) fn drain(&mut self, visit: impl FnMut(u32)) {
        self.for_each(visit);
        for (block, filled) in self.filled.iter_mut().enumerate() {
            for bit in bits(std::mem::take(filled)) {
                self.words[block * 64 + bit as usize] = 0;
            }
        }
    }
}

/// Numbers of the bits that are set, lowest first.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_in_order_and_once() {
        let mut set = KeySet::new(100_000);
        for key in [99_999, 0, 64, 63, 5_000, 64, 4_095, 4_096] {
            set.insert(key);
        }
        let mut got = [Vec::new(), Vec::new()];
        set.for_each(|key| got[0].push(key));
        set.drain(|key| got[1].push(key));
        assert_eq!(got[0], got[1]);
        assert_eq!(got[0], [0, 63, 64, 4_095, 4_096, 5_000, 99_999]);
        set.drain(|key| panic!("{key} was forgotten"));
    }
}
