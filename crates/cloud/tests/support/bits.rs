//! What a source says, for comparisons.

use citrange_cloud::Points;

/// All points of a source, bit for bit.
pub(crate) fn bits(points: &dyn Points) -> Vec<[u32; 3]> {
    let n = points.len();
    let (mut x, mut y, mut z) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    points.fill(0, &mut x, &mut y, &mut z);
    (0..n).map(|i| [x[i].to_bits(), y[i].to_bits(), z[i].to_bits()]).collect()
}

/// All colours of a source.
pub(crate) fn colours(points: &dyn Points) -> Vec<[u8; 3]> {
    (0..points.len()).map(|i| points.rgb(i)).collect()
}
