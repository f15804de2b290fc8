//! The few operations on 3-vectors and row-major 3x3 matrices that setup code needs, in `f64`.

pub(crate) type Vec3 = [f64; 3];
/// Row-major.
pub(crate) type Mat3 = [f64; 9];

pub(crate) fn add(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn scale(a: Vec3, k: f64) -> Vec3 {
    [a[0] * k, a[1] * k, a[2] * k]
}

pub(crate) fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Antisymmetric to the last bit, which is what makes shared triangle edges watertight.
pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn length(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

/// The unit vector along `a`; `-Z` when `a` is too short to have a direction.
pub(crate) fn normalize(a: Vec3) -> Vec3 {
    let n = length(a);
    if n > 1e-12 { scale(a, 1.0 / n) } else { [0.0, 0.0, -1.0] }
}

pub(crate) fn mul(m: &Mat3, v: Vec3) -> Vec3 {
    [
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
        m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
    ]
}

/// `transpose(m) * v`: the inverse rotation.
pub(crate) fn mul_t(m: &Mat3, v: Vec3) -> Vec3 {
    [
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    ]
}

/// `transpose(a) * b`.
pub(crate) fn mat_t_mul(a: &Mat3, b: &Mat3) -> Mat3 {
    let mut out = [0.0; 9];
    for r in 0..3 {
        for c in 0..3 {
            out[3 * r + c] = a[r] * b[c] + a[3 + r] * b[3 + c] + a[6 + r] * b[6 + c];
        }
    }
    out
}

pub(crate) fn to_f32(v: Vec3) -> [f32; 3] {
    [v[0] as f32, v[1] as f32, v[2] as f32]
}

pub(crate) fn is_rotation(m: &Mat3) -> bool {
    // NaN fails every comparison below, so the test is written to need success.
    let rows = [[m[0], m[1], m[2]], [m[3], m[4], m[5]], [m[6], m[7], m[8]]];
    let near = |value: f64, want: f64| (value - want).abs() < 1e-3;
    rows.iter().all(|r| near(dot(*r, *r), 1.0))
        && near(dot(rows[0], rows[1]), 0.0)
        && near(dot(rows[0], rows[2]), 0.0)
        && near(dot(rows[1], rows[2]), 0.0)
        && dot(cross(rows[0], rows[1]), rows[2]) > 0.0
}

/// A rotation (row-major `world_from_camera`) whose camera looks along `forward`.
pub(crate) fn look_along(forward: Vec3, up: Vec3) -> Mat3 {
    let z = scale(normalize(forward), -1.0);
    let mut x = cross(up, z);
    if length(x) < 1e-6 {
        // Along `up` itself: then +Y is up, as on a map.
        x = cross([0.0, 1.0, 0.0], z);
    }
    if length(x) < 1e-6 {
        x = [1.0, 0.0, 0.0];
    }
    let x = normalize(x);
    let y = cross(z, x);
    [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_along_is_a_rotation_even_straight_down() {
        for forward in [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [1.0, 2.0, 3.0], [0.0, -1.0, 0.0]] {
            let m = look_along(forward, [0.0, 0.0, 1.0]);
            assert!(is_rotation(&m), "{forward:?}");
            let got = mul(&m, [0.0, 0.0, -1.0]);
            assert!(length(sub(got, normalize(forward))) < 1e-12);
        }
    }

    #[test]
    fn a_mirror_is_not_a_rotation() {
        assert!(!is_rotation(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]));
        assert!(!is_rotation(&[f64::NAN; 9]));
    }
}
