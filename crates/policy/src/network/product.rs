//! Matrix products: the one kernel that training spends its time in.
//!
//! Sums run over the inner dimension in order, so a product's bits depend on the instruction set
//! alone (which decides whether products are fused into sums), never on threads.

use citrange_lanes::{F32x16, LANES, Simd, kernel};

/// How the left matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Row after row.
    Rows,
    /// Column after column: the transposed matrix row after row.
    Columns,
}

/// Sizes of a product: `rows x inner` times `inner x columns`. Columns are a multiple of 16.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) rows: usize,
    pub(crate) inner: usize,
    pub(crate) columns: usize,
}

kernel! {
    /// `c = a b`, or `c += a b`. `b` and `c` lie row after row.
    pub(crate) fn multiply(
        simd, left: Left, sizes: Sizes, a: &[f32], b: &[f32], c: &mut [f32], add: bool,
    ) {
        run(simd, left, sizes, a, b, c, add);
    }
}

#[inline(always)]
fn run<S: Simd>(simd: S, left: Left, sizes: Sizes, a: &[f32], b: &[f32], c: &mut [f32], add: bool) {
    let Sizes { rows, inner, columns } = sizes;
    if a.len() < rows * inner || b.len() < inner * columns || c.len() < rows * columns {
        return;
    }
    // As many sums as fit into the registers, and one vector of `b` for each six of `a`.
    let mut column = 0;
    while column < columns {
        let vectors = (columns - column) / LANES;
        if S::IS_WIDE && vectors >= 4 {
            strip::<S, 4>(simd, left, sizes, a, b, c, column, add);
            column += 4 * LANES;
        } else if S::IS_WIDE && vectors >= 2 {
            strip::<S, 2>(simd, left, sizes, a, b, c, column, add);
            column += 2 * LANES;
        } else {
            strip::<S, 1>(simd, left, sizes, a, b, c, column, add);
            column += LANES;
        }
    }
}

/// `V` vectors of columns, all rows.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a kernel's inner part")]
fn strip<S: Simd, const V: usize>(
    simd: S,
    left: Left,
    sizes: Sizes,
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    column: usize,
    add: bool,
) {
    let mut row = 0;
    while row < sizes.rows {
        let rest = sizes.rows - row;
        if rest >= 6 {
            tile::<S, 6, V>(simd, left, sizes, a, b, c, [row, column], add);
            row += 6;
        } else if rest >= 4 {
            tile::<S, 4, V>(simd, left, sizes, a, b, c, [row, column], add);
            row += 4;
        } else if rest >= 2 {
            tile::<S, 2, V>(simd, left, sizes, a, b, c, [row, column], add);
            row += 2;
        } else {
            tile::<S, 1, V>(simd, left, sizes, a, b, c, [row, column], add);
            row += 1;
        }
    }
}

/// `R` rows and `V` vectors of columns.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a kernel's inner part")]
fn tile<S: Simd, const R: usize, const V: usize>(
    simd: S,
    left: Left,
    sizes: Sizes,
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    [row, column]: [usize; 2],
    add: bool,
) {
    let Sizes { rows, inner, columns } = sizes;
    let mut sums = [[simd.splat(0.0); V]; R];
    if add {
        for i in 0..R {
            let at = (row + i) * columns + column;
            for v in 0..V {
                sums[i][v] = F32x16::load_at(simd, c, at + v * LANES);
            }
        }
    }
    match left {
        Left::Rows => {
            let mut lines: [&[f32]; R] = [&[]; R];
            for i in 0..R {
                lines[i] = &a[(row + i) * inner..][..inner];
            }
            for k in 0..inner {
                let line = &b[k * columns + column..][..V * LANES];
                let mut right = [simd.splat(0.0); V];
                for v in 0..V {
                    right[v] = F32x16::load_at(simd, line, v * LANES);
                }
                for i in 0..R {
                    let factor = simd.splat(lines[i][k]);
                    for v in 0..V {
                        sums[i][v] = right[v].mul_add_relaxed(factor, sums[i][v]);
                    }
                }
            }
        }
        Left::Columns => {
            for k in 0..inner {
                let line = &b[k * columns + column..][..V * LANES];
                let factors = &a[k * rows + row..][..R];
                let mut right = [simd.splat(0.0); V];
                for v in 0..V {
                    right[v] = F32x16::load_at(simd, line, v * LANES);
                }
                for i in 0..R {
                    let factor = simd.splat(factors[i]);
                    for v in 0..V {
                        sums[i][v] = right[v].mul_add_relaxed(factor, sums[i][v]);
                    }
                }
            }
        }
    }
    for i in 0..R {
        let at = (row + i) * columns + column;
        for v in 0..V {
            sums[i][v].store_at(c, at + v * LANES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::rng::Rng;
    use citrange_lanes::Isa;

    #[test]
    fn products_are_those_of_the_plain_sum_for_every_set() {
        let mut rng = Rng::new(3);
        let mut numbers =
            |n: usize| -> Vec<f32> { (0..n).map(|_| rng.uniform(-1.0, 1.0) as f32).collect() };
        for (rows, inner, columns) in [(1, 5, 16), (7, 81, 128), (13, 16, 48), (6, 3, 112)] {
            let (a, b) = (numbers(rows * inner), numbers(inner * columns));
            let start = numbers(rows * columns);
            let transposed: Vec<f32> =
                (0..inner * rows).map(|i| a[i % rows * inner + i / rows]).collect();
            let sizes = Sizes { rows, inner, columns };
            for isa in Isa::available() {
                for (left, a) in [(Left::Rows, &a), (Left::Columns, &transposed)] {
                    let mut c = start.clone();
                    multiply(isa, left, sizes, a, &b, &mut c, true);
                    for (at, c) in c.iter().enumerate() {
                        let (i, j) = (at / columns, at % columns);
                        let plain: f64 = (0..inner)
                            .map(|k| {
                                let a = match left {
                                    Left::Rows => a[i * inner + k],
                                    Left::Columns => a[k * rows + i],
                                };
                                f64::from(a) * f64::from(b[k * columns + j])
                            })
                            .sum();
                        let plain = plain + f64::from(start[at]);
                        assert!((f64::from(*c) - plain).abs() < 1e-4, "{isa:?} {i} {j}");
                    }
                }
            }
        }
    }
}
