//! Sorting networks: fixed lists of pairs to compare, so that lanes sort side by side without a
//! branch. Batcher's odd-even merge; `min` and `max` are methods of what is sorted.

/// Brings pairs of places of an array into order. Places of which only the smaller value is used
/// later cost one instruction.
macro_rules! exchange {
    ($array:ident: $($i:literal $j:literal),*) => {
        $(
            let (low, high) = ($array[$i].min($array[$j]), $array[$i].max($array[$j]));
            $array[$i] = low;
            $array[$j] = high;
        )*
    };
}

/// Sorts 16.
macro_rules! sort_16 {
    ($a:ident) => {
        exchange!($a:
            0 1, 2 3, 0 2, 1 3, 1 2, 4 5, 6 7, 4 6, 5 7, 5 6, 0 4, 2 6, 2 4, 1 5, 3 7, 3 5, 1 2,
            3 4, 5 6, 8 9, 10 11, 8 10, 9 11, 9 10, 12 13, 14 15, 12 14, 13 15, 13 14, 8 12, 10 14,
            10 12, 9 13, 11 15, 11 13, 9 10, 11 12, 13 14, 0 8, 4 12, 4 8, 2 10, 6 14, 6 10, 2 4,
            6 8, 10 12, 1 9, 5 13, 5 9, 3 11, 7 15, 7 11, 3 5, 7 9, 11 13, 1 2, 3 4, 5 6, 7 8,
            9 10, 11 12, 13 14)
    };
}

/// Merges places 0 to 15 with 16 to 31; the smallest 19 are then in order.
macro_rules! merge_16_16 {
    ($a:ident) => {
        exchange!($a:
            0 16, 8 24, 8 16, 4 20, 12 28, 12 20, 4 8, 12 16, 20 24, 2 18, 10 26, 10 18, 6 22,
            14 30, 14 22, 6 10, 14 18, 2 4, 6 8, 10 12, 14 16, 18 20, 1 17, 9 25, 9 17, 5 21,
            13 29, 13 21, 5 9, 13 17, 3 19, 11 27, 11 19, 7 23, 15 31, 15 23, 7 11, 15 19, 3 5,
            7 9, 11 13, 15 17, 1 2, 3 4, 5 6, 7 8, 9 10, 11 12, 13 14, 15 16, 17 18)
    };
}

/// Merges places 0 to 18 with 19 to 34; the smallest 19 are then in order.
macro_rules! merge_19_16 {
    ($a:ident) => {
        exchange!($a:
            0 19, 16 19, 8 27, 8 16, 27 19, 4 23, 12 31, 12 23, 4 8, 12 16, 23 27, 2 21, 18 21,
            10 29, 10 18, 6 25, 14 33, 14 25, 6 10, 14 18, 2 4, 6 8, 10 12, 14 16, 18 23, 1 20,
            17 20, 9 28, 9 17, 5 24, 13 32, 13 24, 5 9, 13 17, 3 22, 11 30, 11 22, 7 26, 15 34,
            15 26, 7 11, 15 22, 3 5, 7 9, 11 13, 15 17, 1 2, 3 4, 5 6, 7 8, 9 10, 11 12, 13 14,
            15 16, 17 18)
    };
}

pub(super) use {exchange, merge_16_16, merge_19_16, sort_16};

#[cfg(test)]
mod tests {
    /// 64 zeros and ones side by side.
    #[derive(Clone, Copy)]
    struct Bits(u64);

    impl Bits {
        fn min(self, other: Self) -> Self {
            Self(self.0 & other.0)
        }

        fn max(self, other: Self) -> Self {
            Self(self.0 | other.0)
        }
    }

    /// A network that orders all zeros and ones orders everything: 64 inputs of one bit at once.
    fn sorted_runs(length: usize) -> impl Iterator<Item = Vec<bool>> {
        (0..=length).map(move |ones| (0..length).map(|i| i >= length - ones).collect())
    }

    #[test]
    fn sort_16_sorts_all_zeros_and_ones() {
        for start in (0..1_u64 << 16).step_by(64) {
            let mut a: [Bits; 16] = std::array::from_fn(|place| {
                Bits((0..64).fold(0, |bits, i| bits | ((start + i) >> place & 1) << i))
            });
            sort_16!(a);
            for i in 1..16 {
                assert_eq!(a[i - 1].0 & !a[i].0, 0, "inputs from {start}");
            }
        }
    }

    #[test]
    fn merges_order_the_smallest_19() {
        for right in sorted_runs(16) {
            for left in sorted_runs(16) {
                let both: Vec<u64> = left.iter().chain(&right).map(|b| u64::from(*b)).collect();
                let mut a: [u64; 32] = std::array::from_fn(|i| both[i]);
                merge_16_16!(a);
                assert_smallest_in_order(&a, both);
            }
            for left in sorted_runs(19) {
                let both: Vec<u64> = left.iter().chain(&right).map(|b| u64::from(*b)).collect();
                let mut a: [u64; 35] = std::array::from_fn(|i| both[i]);
                merge_19_16!(a);
                assert_smallest_in_order(&a, both);
            }
        }
    }

    fn assert_smallest_in_order(merged: &[u64], mut inputs: Vec<u64>) {
        inputs.sort_unstable();
        assert_eq!(merged[..19], inputs[..19]);
    }
}
