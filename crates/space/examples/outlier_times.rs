//! How long statistical outlier removal takes on recorded clouds.
//!
//! `CITRANGE_CLOUDS` names a folder of `frame_*.npz` (`xyz`, float32, n x 3) and
//! `frame_*.json` (`T_cam_to_world`, `workspace_lower`, `workspace_upper`, `width`). The points
//! outside of the workspace are left out. With a folder as argument, `frame_*.u8` there gets one
//! byte per point: 1 for an outlier of the exact mode.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use citrange_space::{Isa, OutlierMode, OutlierScratch, Outliers, PictureXyz};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::var("CITRANGE_CLOUDS")?;
    let flags_folder = std::env::args().nth(1);
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "npz"))
        .collect();
    files.sort();
    for file in files {
        let frame = Frame::read(&file)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        println!("{name}: {} points", frame.axes[0].iter().filter(|x| !x.is_nan()).count());
        let exact = Outliers::default();
        let fast = Outliers { mode: OutlierMode::Fast, ..exact };
        let more = Outliers { neighbours: 50, ..exact };
        let unordered = frame.axes[0].len();
        let [mut reference, mut found] = [Vec::new(), Vec::new()];
        for (what, settings, width, isa, runs) in [
            ("exact", exact, frame.width, Isa::best(), 60),
            ("exact, AVX2", exact, frame.width, Isa::best().min(Isa::Avx2), 60),
            ("exact, portable", exact, frame.width, Isa::Portable, 30),
            ("fast", fast, frame.width, Isa::best(), 60),
            ("50 neighbours", more, frame.width, Isa::best(), 10),
            ("unordered", exact, unordered, Isa::best(), 10),
        ] {
            for threads in [1, 2] {
                let times = frame.times(&settings, width, (isa, threads), runs, &mut found);
                if reference.is_empty() {
                    reference.clone_from(&found);
                }
                println!(
                    "  {what:16} {threads} threads: {:6.2} ms at best, {:6.2} median; {} outliers, \
                     {} points not as exact",
                    times[0].as_secs_f64() * 1e3,
                    times[times.len() / 2].as_secs_f64() * 1e3,
                    found.iter().filter(|o| **o).count(),
                    reference.iter().zip(&found).filter(|(a, b)| a != b).count(),
                );
            }
        }
        if let Some(folder) = &flags_folder {
            let bytes: Vec<u8> = reference.iter().map(|o| u8::from(*o)).collect();
            std::fs::write(Path::new(folder).join(format!("{name}.u8")), bytes)?;
        }
    }
    Ok(())
}

struct Frame {
    axes: [Vec<f32>; 3],
    width: usize,
}

impl Frame {
    fn read(file: &Path) -> Result<Self, Box<dyn Error>> {
        let mut bytes = Vec::new();
        zip::ZipArchive::new(std::fs::File::open(file)?)?
            .by_name("xyz.npy")?
            .read_to_end(&mut bytes)?;
        let header = usize::from(bytes[8]) + 256 * usize::from(bytes[9]) + 10;
        let text = std::fs::read_to_string(file.with_extension("json"))?;
        let about: serde_json::Value = serde_json::from_str(&text)?;
        let number = |v: &serde_json::Value| v.as_f64().unwrap_or(f64::NAN);
        let mut frame = Self {
            axes: [Vec::new(), Vec::new(), Vec::new()],
            width: number(&about["width"]) as usize,
        };
        for point in bytes[header..].chunks_exact(12) {
            let xyz: [f32; 3] = std::array::from_fn(|a| {
                f32::from_le_bytes(std::array::from_fn(|i| point[4 * a + i]))
            });
            let inside = (0..3).all(|row| {
                let turn = &about["T_cam_to_world"][row];
                let at = number(&turn[3])
                    + (0..3).map(|c| number(&turn[c]) * f64::from(xyz[c])).sum::<f64>();
                at >= number(&about["workspace_lower"][row])
                    && at <= number(&about["workspace_upper"][row])
            });
            for axis in 0..3 {
                frame.axes[axis].push(if inside { xyz[axis] } else { f32::NAN });
            }
        }
        Ok(frame)
    }

    fn times(
        &self,
        settings: &Outliers,
        width: usize,
        (isa, threads): (Isa, usize),
        runs: usize,
        outliers: &mut Vec<bool>,
    ) -> Vec<Duration> {
        let [x, y, z] = &self.axes;
        let picture = PictureXyz { x, y, z, width };
        let mut scratch = OutlierScratch::default();
        let mut times: Vec<_> = (0..runs)
            .map(|_| {
                let start = Instant::now();
                let found = scratch.find(&picture, settings, isa, threads);
                let time = start.elapsed();
                outliers.clear();
                outliers.extend_from_slice(found);
                time
            })
            .collect();
        times.sort();
        times
    }
}
