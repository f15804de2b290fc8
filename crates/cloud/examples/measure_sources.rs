//! What files hold, and how long their points take as messages and depth pictures.
//!
//! `measure_sources FILE...` prints for each file its points, width, seen points, sums of
//! coordinates and colours (to be compared with other readers), and then the median and least
//! time of `fill` over all points for every layout and instruction set.

#![allow(clippy::print_stdout, reason = "a measurement prints its table")]

use std::path::Path;
use std::time::Instant;

use citrange_cloud::{
    CloudError, CloudFile, DepthImage, Depths, Isa, Pinhole, PointCloud2, PointField, Points,
};

const RUNS: usize = 200;

fn main() -> Result<(), CloudError> {
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let file = CloudFile::read(Path::new(&path), None)?;
        let read_ms = start.elapsed().as_secs_f64() * 1e3;
        describe(&path, &file, read_ms);
        if file.cloud.len() >= 100_000 {
            measure(&file)?;
        }
    }
    Ok(())
}

fn describe(path: &str, file: &CloudFile, read_ms: f64) {
    let cloud = &file.cloud;
    let mut sums = [0.0; 3];
    let mut seen = 0;
    for point in cloud.xyz_m.iter().filter(|p| p.iter().all(|v| v.is_finite())) {
        seen += 1;
        (0..3).for_each(|a| sums[a] += f64::from(point[a]));
    }
    let colours: [u64; 3] =
        std::array::from_fn(|c| cloud.rgb.iter().map(|rgb| u64::from(rgb[c])).sum());
    println!(
        "{path}: {} points, width {}, {seen} seen, sums {sums:.3?}, colours {colours:?}, labels \
         {}, read in {read_ms:.1} ms",
        cloud.len(),
        cloud.width,
        file.labels.as_ref().map_or(0, Vec::len)
    );
}

fn measure(file: &CloudFile) -> Result<(), CloudError> {
    let cloud = &file.cloud;
    let (width, height) = (cloud.width, cloud.height());
    for step in [12, 16, 20, 24, 32] {
        let names = ["x", "y", "z"].iter().enumerate();
        let field = |(i, n): (usize, &&str)| PointField::new(n, 4 * i as u32, PointField::FLOAT32);
        let fields: Vec<PointField> = names.map(field).collect();
        let mut data = vec![0; cloud.len() * step];
        for (row, point) in data.chunks_exact_mut(step).zip(&cloud.xyz_m) {
            row[..12].copy_from_slice(&point.map(f32::to_le_bytes).concat());
        }
        let message = PointCloud2 {
            height: height as u32,
            width: width as u32,
            fields: &fields,
            is_bigendian: false,
            point_step: step as u32,
            row_step: (width * step) as u32,
            data: &data,
            stamp_ns: 0,
        };
        for isa in Isa::available() {
            time(
                &format!("message, {step} bytes a point, {isa:?}"),
                &message.points()?.with_isa(isa),
            );
        }
    }
    let metres: Vec<f32> = cloud.xyz_m.iter().map(|p| p[2]).collect();
    let whole: Vec<u16> = metres.iter().map(|z| (z * 1000.0).round() as u16).collect();
    let guess = Pinhole { fx: 600.0, fy: 600.0, cx: width as f64 / 2.0, cy: height as f64 / 2.0 };
    let pinhole = file.sidecar.pinhole().unwrap_or(guess);
    let kinds = [
        ("uint16", Depths::U16 { data: &whole, scale_m: 0.001 }),
        ("float32", Depths::Metres(&metres)),
    ];
    for (name, depths) in kinds {
        let image =
            DepthImage { width, height, depths, pinhole, rgb: None, range_m: None, stamp_ns: 0 };
        for isa in Isa::available() {
            time(&format!("depth, {name}, {isa:?}"), &image.points()?.with_isa(isa));
        }
    }
    Ok(())
}

/// Reads all points as the pipeline does: in pieces that stay in the cache.
fn time(name: &str, points: &dyn Points) {
    const PIECE: usize = 1024;
    let (mut x, mut y, mut z) = ([0.0; PIECE], [0.0; PIECE], [0.0; PIECE]);
    let mut times_us: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            for first in (0..points.len()).step_by(PIECE) {
                let count = PIECE.min(points.len() - first);
                points.fill(first, &mut x[..count], &mut y[..count], &mut z[..count]);
                std::hint::black_box((&x, &y, &z));
            }
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times_us.sort_by(f64::total_cmp);
    println!("  {name}: median {:.0} us, least {:.0} us", times_us[RUNS / 2], times_us[0]);
}
