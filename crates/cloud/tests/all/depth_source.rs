//! Depth pictures: every pixel becomes the point that its ray says.

use citrange_cloud::{DepthImage, Depths, Isa, Pinhole, Points};
use proptest::prelude::*;

use crate::bits::{bits, colours};

const PINHOLE: Pinhole = Pinhole { fx: 61.5, fy: 60.5, cx: 32.25, cy: 23.75 };

fn image(depths: Depths<'_>) -> DepthImage<'_> {
    let (width, height) = (64, 48);
    DepthImage { width, height, depths, pinhole: PINHOLE, rgb: None, range_m: None, stamp_ns: 5 }
}

#[test]
fn points_lie_on_the_rays_of_their_pixels() {
    let data: Vec<u16> = (0..64 * 48).map(|i| 400 + i as u16).collect();
    let depths = Depths::U16 { data: &data, scale_m: 0.001 };
    let view = image(depths).points().unwrap();
    assert_eq!((view.len(), view.width(), view.height(), view.stamp_ns()), (3072, 64, 48, 5));
    for (i, point) in bits(&view).into_iter().enumerate() {
        let z = f64::from(data[i]) / 1000.0;
        let x = ((i % 64) as f64 - 32.25) / 61.5 * z;
        let y = ((i / 64) as f64 - 23.75) / 60.5 * z;
        for (found, expected) in point.map(f32::from_bits).into_iter().zip([x, y, z]) {
            assert!((f64::from(found) - expected).abs() < 1e-6, "{i}: {found} {expected}");
        }
    }
}

#[test]
fn what_was_not_seen_is_not_a_number() {
    let mut data = vec![1.0_f32; 64 * 48];
    let odd = [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.19, 5.1];
    data[..8].copy_from_slice(&odd);
    let seen = |range_m: Option<[f32; 2]>| -> Vec<bool> {
        let image = DepthImage { range_m, ..image(Depths::Metres(&data)) };
        let points = bits(&image.points().unwrap());
        let all = points.iter().map(|p| p.map(|v| !f32::from_bits(v).is_nan()));
        all.map(|[x, y, z]| {
            assert!(x == y && y == z);
            z
        })
        .collect()
    };
    let expected = |near: bool| [&[false; 6][..], &[near; 2], &[true; 3064]].concat();
    assert_eq!(seen(None), expected(true));
    assert_eq!(seen(Some([0.2, 5.0])), expected(false));
    assert_eq!(seen(Some([0.0, f32::INFINITY])), expected(true));
    let zeros = vec![0_u16; 64 * 48];
    let view = image(Depths::U16 { data: &zeros, scale_m: 0.001 }).points().unwrap();
    assert!(bits(&view).iter().all(|p| f32::from_bits(p[2]).is_nan()));
}

#[test]
fn wrong_pictures_are_refused() {
    let data = vec![1.0_f32; 64 * 48];
    let good = image(Depths::Metres(&data));
    let rgb = vec![[1, 2, 3]; 64 * 48];
    let pinhole = |fx: f64, cx: f64| Pinhole { fx, cx, ..PINHOLE };
    let coloured = DepthImage { rgb: Some(&rgb), ..good };
    assert_eq!(colours(&coloured.points().unwrap()), rgb);
    let short = Depths::U16 { data: &[1, 2], scale_m: 0.001 };
    let (scale, zeros) = (f32::NAN, vec![0; 64 * 48]);
    let unscaled = Depths::U16 { data: &zeros, scale_m: scale };
    for (reason, bad) in [
        ("2 depths for 64 x 48", DepthImage { depths: short, ..good }),
        ("5 colours for", DepthImage { rgb: Some(&rgb[..5]), ..good }),
        ("scale NaN", DepthImage { depths: unscaled, ..good }),
        ("beyond all memory", DepthImage { width: usize::MAX, ..good }),
        ("fx is 0", DepthImage { pinhole: pinhole(0.0, 1.0), ..good }),
        ("cx is NaN", DepthImage { pinhole: pinhole(1.0, f64::NAN), ..good }),
        ("range 2 to 1 m", DepthImage { range_m: Some([2.0, 1.0]), ..good }),
    ] {
        let error = bad.points().unwrap_err().to_string();
        assert!(error.contains(reason), "{error:?} should say {reason:?}");
    }
}

proptest! {
    #[test]
    fn instruction_sets_agree(
        data in prop::collection::vec(prop::num::f32::ANY, 7 * 19), start in 0_usize..50,
        count in 0_usize..80, whole: bool,
    ) {
        let numbers: Vec<u16> = data.iter().map(|d| d.to_bits() as u16).collect();
        let depths = if whole {
            Depths::U16 { data: &numbers, scale_m: 0.00025 }
        } else {
            Depths::Metres(&data)
        };
        let image = DepthImage { width: 19, height: 7, ..image(depths) };
        let view = image.points().unwrap();
        let expected = bits(&view.with_isa(Isa::SCALAR));
        for isa in Isa::available() {
            let mut out = [vec![0.0; count], vec![0.0; count], vec![0.0; count]];
            let [x, y, z] = &mut out;
            view.with_isa(isa).fill(start, x, y, z);
            for i in 0..count {
                let found = [out[0][i], out[1][i], out[2][i]];
                let wanted = expected[start + i].map(f32::from_bits);
                let same = found.iter().zip(wanted).all(|(a, b)| {
                    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
                });
                prop_assert!(same, "{isa:?} {i}: {found:?} {wanted:?}");
            }
        }
    }
}
