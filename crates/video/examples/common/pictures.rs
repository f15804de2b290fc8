//! Pictures for tests and measurements: a table with a checker pattern, a ball, a moving arm; and
//! frame numbers painted so large that they survive the encoder.

/// Bits of a painted number.
pub(crate) const NUMBER_BITS: usize = 16;

/// Where the camera is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// Beside the table, still.
    Front,
    /// On the hand, moving with it.
    Wrist,
}

type V3 = [f32; 3];

fn dot(a: V3, b: V3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn mix(a: V3, b: V3, t: f32) -> V3 {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t)
}

/// Draws the picture of second `secs` as rgb8.
pub(crate) fn draw(view: View, width: usize, height: usize, secs: f32) -> Vec<u8> {
    let (eye, yaw, pitch) = match view {
        View::Front => ([0.0, -1.1, 0.6], 0.0, 0.5),
        View::Wrist => {
            let (s, c) = (0.8 * secs).sin_cos();
            ([0.25 * s, -0.4 + 0.15 * c, 0.35 + 0.05 * s], 0.3 * s, 0.85 + 0.1 * c)
        }
    };
    let arm = arm(secs);
    let ball = [0.3, 0.1 + 0.05 * secs.sin(), 0.06];
    let (ys, yc) = f32::sin_cos(yaw);
    let (ps, pc) = f32::sin_cos(pitch);
    let mut rgb = Vec::with_capacity(width * height * 3);
    for row in 0..height {
        for column in 0..width {
            let u = (column as f32 + 0.5 - 0.5 * width as f32) / height as f32 * 1.1;
            let v = (0.5 * height as f32 - row as f32 - 0.5) / height as f32 * 1.1;
            let forward = pc + v * ps;
            let ray = [u * yc + forward * ys, forward * yc - u * ys, v * pc - ps];
            let colour = shade(eye, ray, &arm, ball);
            rgb.extend(colour.map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8));
        }
    }
    rgb
}

/// Spheres along the links, near enough to be tubes.
fn arm(secs: f32) -> Vec<(V3, f32)> {
    let (pan, lift) = (0.7 * (0.9 * secs).sin(), 0.5 + 0.4 * (1.3 * secs).sin());
    let mut at = [-0.1, 0.3, 0.0];
    let mut spheres = Vec::new();
    for (link, angle) in [(0.25, 1.4), (0.3, lift), (0.25, lift - 1.0), (0.1, -1.3)] {
        for _ in 0..10 {
            let step = link / 10.0;
            let out = step * f32::cos(angle);
            at = [
                at[0] + out * f32::sin(pan),
                at[1] - out * f32::cos(pan),
                at[2] + step * f32::sin(angle),
            ];
            spheres.push((at, 0.035));
        }
    }
    spheres
}

fn shade(eye: V3, ray: V3, arm: &[(V3, f32)], ball: V3) -> V3 {
    let length = dot(ray, ray).sqrt();
    let ray = ray.map(|c| c / length);
    let light = [0.4, -0.5, 0.77];
    let mut nearest = f32::INFINITY;
    let mut colour = mix([0.55, 0.65, 0.8], [0.25, 0.35, 0.55], ray[2].max(0.0));
    if ray[2] < 0.0 {
        nearest = -eye[2] / ray[2];
        let [x, y] = [0, 1].map(|i| eye[i] + nearest * ray[i]);
        let dark = ((x * 8.0).floor() + (y * 8.0).floor()) as i64 & 1 == 0;
        let tone = if dark { [0.35, 0.32, 0.3] } else { [0.7, 0.66, 0.6] };
        // A soft shadow below the ball, and distance that takes the contrast.
        let near_ball = ((x - ball[0]).powi(2) + (y - ball[1]).powi(2)).sqrt();
        let light = 0.6 + 0.4 * (near_ball / 0.15).min(1.0);
        colour = mix(tone.map(|c| c * light), [0.5, 0.5, 0.52], (nearest / 4.0).min(1.0));
    }
    let spheres = arm.iter().map(|&(at, r)| (at, r, [0.95, 0.75, 0.15]));
    for (at, radius, tint) in spheres.chain([(ball, 0.06, [0.95, 0.45, 0.1])]) {
        let to = [0, 1, 2].map(|i| at[i] - eye[i]);
        let along = dot(to, ray);
        let miss = dot(to, to) - along * along;
        if along > 0.0 && miss < radius * radius {
            let t = along - (radius * radius - miss).sqrt();
            if t < nearest {
                nearest = t;
                let normal = [0, 1, 2].map(|i| (eye[i] + t * ray[i] - at[i]) / radius);
                let diffuse = dot(normal, light).max(0.0);
                colour = tint.map(|c| c * (0.3 + 0.7 * diffuse) + 0.3 * diffuse.powi(20));
            }
        }
    }
    colour
}

/// Where the block of a bit lies: columns and rows.
fn block(
    bit: usize,
    width: usize,
    height: usize,
) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let (across, down) = (width / 8, height / 8);
    let (column, row) = (bit % 8, bit / 8);
    (column * across..(column + 1) * across, row * down..(row + 1) * down)
}

/// Paints a number into the top quarter: a block per bit, white for one, black for zero.
pub(crate) fn paint_number(rgb: &mut [u8], width: usize, height: usize, number: u16) {
    for bit in 0..NUMBER_BITS {
        let tone = if number >> bit & 1 == 1 { 255 } else { 0 };
        let (columns, rows) = block(bit, width, height);
        for row in rows {
            rgb[3 * (row * width + columns.start)..3 * (row * width + columns.end)].fill(tone);
        }
    }
}

/// Reads a painted number back; `None` where a block is neither black nor white.
pub(crate) fn read_number(rgb: &[u8], width: usize, height: usize) -> Option<u16> {
    (0..NUMBER_BITS).try_fold(0, |number, bit| {
        let (columns, rows) = block(bit, width, height);
        let middle = (rows.start + rows.end) / 2 * width + (columns.start + columns.end) / 2;
        match rgb[3 * middle] {
            0..=70 => Some(number),
            185..=255 => Some(number | 1 << bit),
            _ => None,
        }
    })
}

/// Likeness in dB.
pub(crate) fn psnr(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    let sum: u64 = a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2)).sum();
    10.0 * (255.0 * 255.0 * a.len() as f64 / (sum as f64).max(1e-9)).log10()
}
