//! Velocities of things that are pushed past a camera.

use citrange_core::rng::Rng;
use citrange_space::{Grid, Map, MapSettings, Track};

use crate::synthetic::{Camera, frame, thing};

const FRAME_NS: u64 = 33_333_333;

/// Pushes a box past the camera with `velocity_m_s` next to one that stands; tracks after every
/// frame.
fn push(voxel_m: f64, velocity_m_s: [f64; 3], frames: u64) -> Vec<Vec<Track>> {
    let grid = Grid::new([-0.5, -0.8, -0.05], [1.2, 0.8, 1.0], voxel_m).unwrap();
    let camera = Camera::new([-0.9, -0.2, 0.9], [0.4, 0.0, 0.2], 160, 120);
    let mut map = Map::new(&MapSettings::default(), &grid).unwrap();
    let mut seen = Vec::new();
    for step in 0..frames {
        let stamp_ns = 1_000_000_000 + step * FRAME_NS;
        let time_s = (step * FRAME_NS) as f64 * 1e-9;
        let at_m = std::array::from_fn(|a| [0.22, -0.13, 0.31][a] + velocity_m_s[a] * time_s);
        let things =
            [thing(0, at_m, [0.08, 0.07, 0.1]), thing(1, [0.63, 0.5, 0.2], [0.1, 0.07, 0.1])];
        let mut cloud = camera.picture(&things, stamp_ns, |_, _| false);
        // Depths of a real camera scatter by some millimetres.
        let mut chance = Rng::new(step);
        for point in &mut cloud.xyz_m {
            let scale = chance.uniform(0.997, 1.003) as f32;
            *point = point.map(|v| v * scale);
        }
        let frame = frame(&grid, &cloud, &camera.pose, &things);
        map.integrate(0, &cloud, &camera.view(), &frame).unwrap();
        let mut tracks = map.snapshot().tracks().to_vec();
        // The one that is pushed first: it never comes near the other.
        tracks.sort_by(|a, b| a.centroid_m[1].total_cmp(&b.centroid_m[1]));
        seen.push(tracks);
    }
    seen
}

fn speed(track: &Track) -> f64 {
    track.velocity_m_s.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[test]
fn velocities_are_known_after_half_a_second() {
    let ways = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.0, -0.3], [-0.3, 0.5, 0.4]];
    for voxel_m in [0.05, 0.02] {
        for (speed_m_s, way) in [0.1, 0.3, 1.0].into_iter().flat_map(|s| ways.map(|way| (s, way))) {
            // Fast things are out of the picture soon.
            if speed_m_s == 1.0 && way[0] != 0.6 {
                continue;
            }
            let norm = way.iter().map(|v| v * v).sum::<f64>().sqrt();
            let velocity_m_s = way.map(|v| v / norm * speed_m_s);
            let seen = push(voxel_m, velocity_m_s, 16);
            let tracks = seen.last().unwrap();
            assert_eq!(tracks.len(), 2, "{tracks:?}");
            let off: f64 = (0..3)
                .map(|a| (tracks[0].velocity_m_s[a] - velocity_m_s[a]).powi(2))
                .sum::<f64>()
                .sqrt();
            assert!(off < 0.15 * speed_m_s, "{voxel_m} {velocity_m_s:?} {:?}", tracks[0]);
            assert!(speed(&tracks[1]) < 0.03, "{:?}", tracks[1]);
            assert!(tracks[0].is_moving && !tracks[1].is_moving);
            assert!((tracks[0].age_s - 0.5).abs() < 0.01);
        }
    }
}

#[test]
fn a_track_keeps_its_number_and_a_thing_that_stands_is_still() {
    let seen = push(0.05, [0.0, 0.2, 0.0], 25);
    for tracks in &seen {
        let ids = |tracks: &[Track]| tracks.iter().map(|t| t.id).collect::<Vec<_>>();
        assert_eq!(ids(tracks), ids(&seen[0]));
        assert!(!tracks[1].is_moving);
    }
    // It takes a few frames to say so, and then it stays so.
    let moving: Vec<bool> = seen.iter().map(|tracks| tracks[0].is_moving).collect();
    let begins = moving.iter().position(|m| *m).unwrap();
    assert!((3..8).contains(&begins), "{moving:?}");
    assert!(moving[begins..].iter().all(|m| *m));
}
