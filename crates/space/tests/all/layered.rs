//! Two layers answer like all of their cubes together.

use std::sync::Arc;

use citrange_space::{
    Grid, LayeredMap, LayeredSnapshot, MapLayer, MapSettings, MapSnapshot, NO_VOXEL, RayBatch,
};
use proptest::prelude::*;

use crate::synthetic::{Camera, frame, thing};

const TINY_M: f64 = 1e-9;

/// Lower and upper corners of all cubes of both layers.
fn cubes(layered: &LayeredSnapshot) -> Vec<[[f64; 3]; 2]> {
    let of_layer = |layer| {
        let snapshot = layered.layer(layer);
        let (grid, half) = (snapshot.grid(), snapshot.grid().voxel_m() / 2.0);
        snapshot.voxels().iter().map(move |voxel| {
            let centre = grid.centre_m(grid.cell_of(voxel.key));
            [centre.map(|c| c - half), centre.map(|c| c + half)]
        })
    };
    of_layer(MapLayer::Fine).chain(of_layer(MapLayer::Coarse)).collect()
}

fn distance_m([low, high]: &[[f64; 3]; 2], p: [f64; 3]) -> f64 {
    let out = |a: usize| (low[a] - p[a]).max(p[a] - high[a]).max(0.0);
    (out(0).powi(2) + out(1).powi(2) + out(2).powi(2)).sqrt()
}

fn ray_m([low, high]: &[[f64; 3]; 2], from: [f64; 3], way: [f64; 3], grow_m: f64) -> f64 {
    let (mut first, mut last) = (0.0_f64, f64::INFINITY);
    for a in 0..3 {
        let t0 = (low[a] - grow_m - from[a]) / way[a];
        let t1 = (high[a] + grow_m - from[a]) / way[a];
        first = first.max(t0.min(t1));
        last = last.min(t0.max(t1));
    }
    if first <= last { first } else { f64::INFINITY }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn answers_are_those_of_the_union(
        picks in prop::collection::vec((any::<u32>(), any::<bool>()), 1..60),
        asked in prop::collection::vec(
            ([-0.8_f64..0.8, -0.8_f64..0.8, -0.8_f64..0.8],
             [0.05_f64..1.0, -1.0_f64..-0.05, 0.05_f64..1.0], 0.0_f64..0.5), 300),
    ) {
        let fine = Grid::new([-0.2; 3], [0.2; 3], 0.02).unwrap();
        let coarse = Grid::new([-0.6; 3], [0.6, 0.5, 0.6], 0.05).unwrap();
        let keys = |grid: &Grid, of: bool| -> Vec<u32> {
            let picks = picks.iter().filter(|(_, fine)| *fine == of);
            picks.map(|(pick, _)| pick % grid.cells() as u32).collect()
        };
        let fine = MapSnapshot::from_voxels_within(&fine, &keys(&fine, true), 0.3).unwrap();
        let coarse = MapSnapshot::from_voxels(&coarse, &keys(&coarse, false)).unwrap();
        let layered = LayeredSnapshot::new(Arc::new(fine), Arc::new(coarse));
        let cubes = cubes(&layered);
        let nearest_m = |p| cubes.iter().map(|c| distance_m(c, p)).fold(f64::INFINITY, f64::min);
        let [mut o, mut d] = [(); 2].map(|()| [vec![], vec![], vec![]]);
        for (from, way, radius_m) in &asked {
            let expected_m = nearest_m(*from);
            let (answer, layer) = layered.distance(*from);
            prop_assert!((answer.distance_m - expected_m.min(layered.reach_m())).abs() < TINY_M);
            if let Some(key) = answer.voxel {
                prop_assert_eq!(layered.layer(layer).distance(*from).voxel, Some(key));
            }
            prop_assert!(layered.lower_bound_m(*from) <= expected_m + TINY_M);
            if (expected_m - radius_m).abs() > TINY_M {
                prop_assert_eq!(layered.sphere_hit(*from, *radius_m), expected_m < *radius_m);
                prop_assert_eq!(
                    layered.capsule_hit(*from, *from, *radius_m), expected_m < *radius_m);
            }
            let norm = way.iter().map(|v| v * v).sum::<f64>().sqrt();
            for a in 0..3 {
                o[a].push(from[a]);
                d[a].push(way[a] / norm);
            }
        }
        let max_m = vec![f64::INFINITY; asked.len()];
        let (origins_m, directions) = ([&o[0][..], &o[1], &o[2]], [&d[0][..], &d[1], &d[2]]);
        let (mut found_m, mut voxels) = (max_m.clone(), vec![0; max_m.len()]);
        let mut layers = vec![MapLayer::Fine; max_m.len()];
        let batch = RayBatch { origins_m, directions, max_m: &max_m };
        layered.rays(&batch, &mut found_m, &mut voxels, &mut layers).unwrap();
        for i in 0..max_m.len() {
            let (from, way) = (o.each_ref().map(|o| o[i]), d.each_ref().map(|d| d[i]));
            let first_m = |grow_m: f64| {
                cubes.iter().map(|c| ray_m(c, from, way, grow_m)).fold(f64::INFINITY, f64::min)
            };
            prop_assert!(first_m(TINY_M) - 1e-7 <= found_m[i]);
            prop_assert!(found_m[i] <= first_m(-TINY_M) + 1e-7);
            if voxels[i] == NO_VOXEL {
                prop_assert_eq!(found_m[i], f64::INFINITY);
            } else {
                let hit = layered.layer(layers[i]).voxels().iter().any(|v| v.key == voxels[i]);
                prop_assert!(hit);
            }
        }
    }
}

#[test]
fn a_layered_map_has_every_thing_in_one_layer() {
    let fine = Grid::new([0.1, -0.2, 0.0], [0.5, 0.2, 0.4], 0.02).unwrap();
    let coarse = Grid::new([-0.5, -0.6, -0.1], [1.0, 0.6, 0.8], 0.05).unwrap();
    let camera = Camera::new([-0.9, -0.1, 0.7], [0.4, 0.0, 0.1], 120, 90);
    let things = [
        thing(0, [0.3, 0.05, 0.2], [0.06, 0.06, 0.06]),
        thing(1, [0.6, 0.4, 0.2], [0.06, 0.06, 0.06]),
    ];
    let cloud = camera.picture(&things, 1, |_, _| false);
    let frames = [&fine, &coarse].map(|grid| frame(grid, &cloud, &camera.pose, &things));
    let mut map = LayeredMap::new(&MapSettings::default(), &fine, &coarse).unwrap();
    let both = [&frames[0], &frames[1]];
    map.integrate(0, &cloud, &camera.view(), both).unwrap();
    let layered = map.snapshot();
    assert_eq!(layered.layer(MapLayer::Fine).voxels().len(), frames[0].voxels.len());
    for voxel in layered.layer(MapLayer::Coarse).voxels() {
        let y = coarse.centre_m(coarse.cell_of(voxel.key))[1];
        assert!(y > 0.3, "{voxel:?} is in the fine map already");
    }
    // The same frame again is refused by both.
    assert!(map.integrate(0, &cloud, &camera.view(), both).is_err());
    assert_eq!(map.snapshot().layer(MapLayer::Fine).sequence(), 1);
    assert_eq!(map.snapshot().layer(MapLayer::Coarse).sequence(), 1);
}
