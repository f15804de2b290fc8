//! Where objects start in an episode: within bounds, without overlap, and a function of
//! (seed, episode index) alone.

use std::collections::BTreeMap;

use crate::pose::Pose;
use crate::rng::Rng;
use crate::scene::{Place, Scene, Span};
use crate::shape::Footprint;

/// Draws tried for one object before all objects are drawn anew.
const TRIES_PER_OBJECT: usize = 200;
/// Times all objects are drawn anew before giving up.
const RESTARTS: usize = 100;
/// Height above its surface at which an object starts, so that it settles instead of bursting
/// out of a penetration.
const LIFT_M: f64 = 0.0005;

/// The objects do not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "scene {scene}: {object} cannot be placed ({tries} draws, episode {episode}, seed {seed}); \
     enlarge objects.{object}.place, lower clearance_m, or remove objects near it"
)]
pub struct PlacementError {
    /// Scene name.
    pub scene: String,
    /// The object that found no room.
    pub object: String,
    /// Draws made.
    pub tries: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Episode index.
    pub episode: u64,
}

/// A disc that is taken.
struct Taken {
    center: [f64; 2],
    radius: f64,
    /// Surface height; things on different surfaces do not meet.
    z: f64,
}

/// Start poses of all objects in episode number `episode` of a run with `seed`.
///
/// # Errors
/// When an object finds no room.
pub fn place_objects(
    scene: &Scene,
    seed: u64,
    episode: u64,
) -> Result<BTreeMap<String, Pose>, PlacementError> {
    let mut rng = Rng::for_episode(seed, episode, "placement");
    let mut tries = 0;
    let mut stuck = String::new();
    for _ in 0..RESTARTS {
        match try_once(scene, &mut rng, &mut tries) {
            Ok(poses) => return Ok(poses),
            Err(object) => stuck = object,
        }
    }
    Err(PlacementError { scene: scene.name.clone(), object: stuck, tries, seed, episode })
}

fn try_once(
    scene: &Scene,
    rng: &mut Rng,
    tries: &mut usize,
) -> Result<BTreeMap<String, Pose>, String> {
    let mut taken: Vec<Taken> = scene
        .fixtures
        .values()
        .filter(|f| f.keep_clear)
        .map(|f| Taken {
            center: [f.pos_m[0], f.pos_m[1]],
            radius: Footprint::of(&f.parts).radius_m,
            z: f.pos_m[2],
        })
        .collect();
    let mut poses = BTreeMap::new();
    // Fixed spots first: drawn objects have to keep clear of them.
    let (spots, drawn): (Vec<_>, Vec<_>) =
        scene.objects.iter().partition(|(_, o)| o.place.spot_m.is_some());
    for (name, object) in spots.into_iter().chain(drawn) {
        let foot = object.room();
        let place = &object.place;
        let mut found = None;
        for _ in 0..TRIES_PER_OBJECT {
            *tries += 1;
            let center = draw(place, rng);
            let clear = taken.iter().all(|t| {
                let gap = (center[0] - t.center[0]).hypot(center[1] - t.center[1]);
                let same_surface = (t.z - place.surface_z_m).abs() < 0.1;
                !same_surface || gap >= foot.radius_m + t.radius + place.clearance_m
            });
            if clear {
                found = Some(center);
                break;
            }
            if place.spot_m.is_some() {
                break;
            }
        }
        let center = found.ok_or_else(|| name.clone())?;
        let yaw_deg = match place.yaw_deg {
            Span::One(angle) => angle,
            Span::Range([from, to]) => rng.uniform(from, to),
        };
        let lift = if object.fixed_root { 0.0 } else { foot.below_m + LIFT_M };
        let pos_m = [center[0], center[1], place.surface_z_m + lift];
        poses.insert(name.clone(), Pose::from_yaw(pos_m, yaw_deg.to_radians()));
        taken.push(Taken { center, radius: foot.radius_m, z: place.surface_z_m });
    }
    Ok(poses)
}

fn draw(place: &Place, rng: &mut Rng) -> [f64; 2] {
    if let Some(r) = &place.rectangle {
        [rng.uniform(r.x_m[0], r.x_m[1]), rng.uniform(r.y_m[0], r.y_m[1])]
    } else if let Some(r) = &place.ring {
        // Uniform over the area: the squared radius is uniform.
        let [inner, outer] = r.radius_m;
        let radius = rng.uniform(inner * inner, outer * outer).sqrt();
        let angle = rng.uniform(r.angle_deg[0], r.angle_deg[1]).to_radians();
        [r.center_m[0] + radius * angle.cos(), r.center_m[1] + radius * angle.sin()]
    } else {
        place.spot_m.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::from_yaml;

    fn scene(width: f64, balls: u32) -> Scene {
        let ball = |i: u32| {
            format!(
                "  ball_{i}: {{parts: [{{shape: {{sphere: {{radius_m: 0.025}}}}, mass_kg: 0.1}}], \
                 place: {{rectangle: {{x_m: [0, {width}], y_m: [0, 0.2]}}, yaw_deg: [0, 360]}}}}\n"
            )
        };
        let text = format!(
            "name: t\ntitle: t\nrates: {{physics_hz: 360, control_hz: 180, frame_hz: 30}}\n\
             fixtures:\n  post: {{keep_clear: true, pos_m: [0.1, 0.1, 0], parts: [{{shape: \
             {{cylinder: {{radius_m: 0.02, half_height_m: 0.1}}}}}}]}}\nobjects:\n{}",
            (1..=balls).map(ball).collect::<String>()
        );
        let scene: Scene = from_yaml(&text, "t.yaml").unwrap();
        scene.check().unwrap();
        scene
    }

    #[test]
    fn an_episode_is_the_same_whatever_ran_before() {
        let scene = scene(0.3, 4);
        let alone = place_objects(&scene, 5, 17).unwrap();
        for episode in 0..17 {
            place_objects(&scene, 5, episode).unwrap();
        }
        assert_eq!(place_objects(&scene, 5, 17).unwrap(), alone);
        assert_ne!(place_objects(&scene, 5, 18).unwrap(), alone);
        assert_ne!(place_objects(&scene, 6, 17).unwrap(), alone);
    }

    #[test]
    fn nothing_overlaps_and_all_stay_in_bounds() {
        let scene = scene(0.3, 4);
        for episode in 0..300 {
            let poses = place_objects(&scene, 1, episode).unwrap();
            let mut discs = vec![([0.1, 0.1], 0.02)];
            for pose in poses.values() {
                let [x, y, z] = pose.pos_m;
                assert!((0.0..=0.3).contains(&x) && (0.0..=0.2).contains(&y));
                assert!((z - 0.0255).abs() < 1e-12);
                for (center, radius) in &discs {
                    let center: &[f64; 2] = center;
                    assert!((x - center[0]).hypot(y - center[1]) >= radius + 0.025 + 0.01);
                }
                discs.push(([x, y], 0.025));
            }
        }
    }

    #[test]
    fn no_room_is_a_clear_error() {
        let error = place_objects(&scene(0.01, 6), 1, 3).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("ball_") && text.contains("enlarge objects."), "{text}");
    }
}
