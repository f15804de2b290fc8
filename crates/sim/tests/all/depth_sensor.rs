//! The simulated depth camera errs as it says it does.

use citrange_cloud::Pinhole;
use citrange_sim::DepthSensor;

const WIDTH: usize = 320;
const HEIGHT: usize = 240;
const PINHOLE: Pinhole = Pinhole { fx: 383.0, fy: 383.0, cx: 159.5, cy: 119.5 };

fn seen(sensor: &DepthSensor, depth_m: &[f32], seed: u64) -> Vec<f32> {
    let mut out = vec![0.0; depth_m.len()];
    sensor.apply(depth_m, WIDTH, &PINHOLE, seed, &mut out).unwrap();
    out
}

fn wall(depth_m: f32) -> Vec<f32> {
    vec![depth_m; WIDTH * HEIGHT]
}

/// The left half near, the right half far.
fn step(near_m: f32, far_m: f32) -> Vec<f32> {
    (0..WIDTH * HEIGHT).map(|i| if i % WIDTH < WIDTH / 2 { near_m } else { far_m }).collect()
}

/// Noise alone.
fn noisy() -> DepthSensor {
    DepthSensor { dropout: 0.0, disparity_step: 0.0, ..DepthSensor::d435() }
}

fn fraction(pixels: &[f32], is: impl Fn(f32) -> bool) -> f64 {
    pixels.iter().filter(|p| is(**p)).count() as f64 / pixels.len() as f64
}

#[test]
fn noise_grows_with_the_square_of_the_distance_and_means_nothing() {
    for (depth_m, low_m, high_m) in
        [(0.5, 0.0006, 0.0010), (1.0, 0.0025, 0.0038), (2.0, 0.010, 0.015)]
    {
        let sensor = noisy();
        let out = seen(&sensor, &wall(depth_m), 1);
        let count = out.len() as f64;
        let off: Vec<f64> = out.iter().map(|d| f64::from(*d) - f64::from(depth_m)).collect();
        let mean = off.iter().sum::<f64>() / count;
        let sigma = (off.iter().map(|o| o * o).sum::<f64>() / count - mean * mean).sqrt();
        let said = sensor.sigma_m(f64::from(depth_m), &PINHOLE);
        assert!((low_m..high_m).contains(&sigma), "{depth_m}: {sigma}");
        assert!((sigma / said - 1.0).abs() < 0.03, "{depth_m}: {sigma} {said}");
        assert!(mean.abs() < 0.05 * sigma, "{depth_m}: {mean}");
    }
}

#[test]
fn neighbours_err_alike() {
    let correlation = |sensor: &DepthSensor, apart: usize| {
        let out = seen(sensor, &wall(1.0), 3);
        let off: Vec<f64> = out.iter().map(|d| f64::from(*d) - 1.0).collect();
        let pairs = off.iter().zip(&off[apart..]).map(|(a, b)| a * b).sum::<f64>();
        pairs / off.iter().map(|o| o * o).sum::<f64>()
    };
    // Two thirds of the shared half; pixels that share nothing are independent.
    assert!((correlation(&noisy(), 1) - 1.0 / 3.0).abs() < 0.02);
    assert!((correlation(&noisy(), WIDTH) - 1.0 / 3.0).abs() < 0.02);
    assert!(correlation(&noisy(), 7).abs() < 0.02);
    let alone = DepthSensor { correlation: 0.0, ..noisy() };
    assert!(correlation(&alone, 1).abs() < 0.02);
}

#[test]
fn disparities_come_in_steps() {
    let sensor = DepthSensor { dropout: 0.0, ..DepthSensor::d435() };
    let scale = PINHOLE.fx * sensor.baseline_m;
    let out = seen(&sensor, &wall(1.5), 2);
    for depth in &out {
        let steps = scale / f64::from(*depth) / sensor.disparity_step;
        assert!((steps - steps.round()).abs() < 1e-3, "{depth}");
    }
    let mut depths: Vec<u32> = out.iter().map(|d| d.to_bits()).collect();
    depths.sort_unstable();
    depths.dedup();
    assert!((5..40).contains(&depths.len()), "{}", depths.len());
}

#[test]
fn edges_have_flying_pixels_and_holes_and_nothing_else_has() {
    let sensor =
        DepthSensor { subpixel: 0.0, disparity_step: 0.0, dropout: 0.0, ..DepthSensor::d435() };
    let out = seen(&sensor, &step(1.0, 2.0), 5);
    let at_edge: Vec<f32> = (0..HEIGHT)
        .flat_map(|row| [out[row * WIDTH + WIDTH / 2 - 1], out[row * WIDTH + WIDTH / 2]])
        .collect();
    let flying = fraction(&at_edge, |d| d > 1.001 && d < 1.999);
    let holes = fraction(&at_edge, f32::is_nan);
    assert!((flying - sensor.flying).abs() < 0.06, "{flying}");
    assert!((holes - sensor.edge_dropout).abs() < 0.06, "{holes}");
    let is_edge = |i: usize| (WIDTH / 2 - 1..=WIDTH / 2).contains(&(i % WIDTH));
    let ideal = step(1.0, 2.0);
    let elsewhere = (0..out.len()).filter(|i| !is_edge(*i));
    assert!(elsewhere.into_iter().all(|i| (out[i] - ideal[i]).abs() < 1e-6));
}

#[test]
fn grazing_surfaces_are_half_lost() {
    // A floor 0.1 m below the axis, seen flatter and flatter towards the horizon.
    let floor: Vec<f32> = (0..WIDTH * HEIGHT)
        .map(|i| {
            let down = ((i / WIDTH) as f64 - PINHOLE.cy) / PINHOLE.fy;
            if down > 0.004 { (0.1 / down) as f32 } else { f32::NAN }
        })
        .collect();
    let sensor =
        DepthSensor { dropout: 0.0, subpixel: 0.0, edge_ratio: 0.5, ..DepthSensor::d435() };
    let out = seen(&sensor, &floor, 9);
    let lost = |rows: std::ops::Range<usize>| {
        fraction(&out[rows.start * WIDTH..rows.end * WIDTH], f32::is_nan)
    };
    // The angle is that of the row: 0.17 rad is 66 pixels below the horizon.
    assert!((lost(140..170) - 0.5).abs() < 0.03, "{}", lost(140..170));
    assert!(lost(200..230) < 0.01, "{}", lost(200..230));
}

#[test]
fn the_second_imager_does_not_see_to_the_left_of_near_things() {
    let sensor = DepthSensor { shadow: true, ..DepthSensor::ideal() };
    let near_right: Vec<f32> = step(2.0, 1.0);
    let near_left: Vec<f32> = step(1.0, 2.0);
    // Disparities are 19.15 and 9.575: nine columns of the background are hidden.
    let hidden = fraction(&seen(&sensor, &near_right, 1), f32::is_nan) * WIDTH as f64;
    assert!((hidden - 9.0).abs() < 1.01, "{hidden}");
    assert_eq!(fraction(&seen(&sensor, &near_left, 1), f32::is_nan), 0.0);
}

#[test]
fn ranges_and_spots_take_pixels_away() {
    let ideal = DepthSensor::ideal();
    for (depth_m, is_seen) in [(0.1, false), (0.11, true), (9.9, true), (10.1, false)] {
        let nan = fraction(&seen(&ideal, &wall(depth_m), 1), f32::is_nan);
        assert_eq!(nan, f64::from(u8::from(!is_seen)), "{depth_m}");
    }
    assert_eq!(fraction(&seen(&ideal, &wall(0.0), 1), f32::is_nan), 1.0);
    assert_eq!(fraction(&seen(&ideal, &wall(f32::NAN), 1), f32::is_nan), 1.0);
    let sensor = DepthSensor { dropout: 0.05, ..ideal };
    let lost = fraction(&seen(&sensor, &wall(1.0), 1), f32::is_nan);
    assert!((0.04..0.051).contains(&lost), "{lost}");
}

#[test]
fn the_ideal_camera_is_ideal_and_seeds_decide() {
    let picture = step(0.7, 1.9);
    let out = seen(&DepthSensor::ideal(), &picture, 4);
    assert!(out.iter().zip(&picture).all(|(a, b)| (a - b).abs() < 1e-6));
    let bits = |seed| {
        seen(&DepthSensor::d435(), &picture, seed).iter().map(|d| d.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(bits(4), bits(4));
    assert_ne!(bits(4), bits(5));
}

#[test]
fn settings_and_sizes_are_checked() {
    let mut out = vec![0.0; 12];
    let apply = |sensor: DepthSensor, width: usize, out: &mut [f32]| {
        sensor.apply(&[1.0; 12], width, &PINHOLE, 0, out).is_err()
    };
    assert!(!apply(DepthSensor::d435(), 4, &mut out));
    assert!(apply(DepthSensor::d435(), 5, &mut out) && apply(DepthSensor::d435(), 0, &mut out));
    assert!(apply(DepthSensor::d435(), 4, &mut [0.0; 8]));
    assert!(apply(
        DepthSensor { flying: 0.8, edge_dropout: 0.3, ..DepthSensor::d435() },
        4,
        &mut out
    ));
    assert!(apply(DepthSensor { subpixel: f64::NAN, ..DepthSensor::d435() }, 4, &mut out));
    assert!(apply(DepthSensor { max_m: 0.1, ..DepthSensor::d435() }, 4, &mut out));
}
