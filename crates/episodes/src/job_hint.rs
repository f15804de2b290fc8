//! What to write into a scene that has no work for the autopilot: a `job:` from its own names.

use citrange_core::ObjectSpec;
use citrange_core::scene::{Object, Scene};
use citrange_core::shape::Shape;

/// Most things that a job may name.
const MOST_TARGETS: usize = 9;
/// Something this much broader than what is to be brought there is a goal, if it is also flat.
const BROADER: f64 = 1.4;
const FLAT: f64 = 0.8;
/// Part of a thing's underside that is taken for its inside where no walls say it.
const INSIDE: f64 = 0.9;

/// The lines to add, or why no job is possible.
pub(crate) fn job_hint(scene: &Scene, objects: &[ObjectSpec]) -> Result<String, &'static str> {
    let moves = |o: &&ObjectSpec| scene.objects.get(&o.name).is_none_or(|known| !known.fixed_root);
    let mut things: Vec<&ObjectSpec> = objects.iter().filter(moves).collect();
    let breadth = |o: &ObjectSpec| size(o, 0).max(size(o, 1));
    let is_goal = |o: &&ObjectSpec| {
        let others = objects.iter().filter(|other| other.name != o.name);
        let broadest = others.map(breadth).fold(0.0, f64::max);
        broadest > 0.0 && breadth(o) > BROADER * broadest && size(o, 2) < FLAT * breadth(o)
    };
    let goal = objects.iter().find(is_goal);
    things.retain(|o| goal.is_none_or(|goal| goal.name != o.name));
    let Some(first) = things.first() else {
        return Err("it has no objects that the arm could bring anywhere");
    };
    let goal = match (goal, things.as_slice()) {
        (Some(goal), _) => inside(goal, scene.objects.get(&goal.name)),
        (None, [_, below]) => {
            let below = below.name.clone();
            things.truncate(1);
            format!("{{top_of: {{object: {below}}}}}")
        }
        (None, _) => {
            let ([x, y], z) = start(scene.objects.get(&first.name));
            let radius = metres(0.07_f64.max(breadth(first)));
            // On the other side of the arm, where nothing lies.
            format!(
                "{{virtual_plate: {{center_m: [{}, {}, {}], radius_m: {radius}}}}}",
                metres(x),
                metres(if y.abs() < 0.05 { -0.15 } else { -y }),
                metres(z)
            )
        }
    };
    let names: Vec<&str> = things.iter().take(MOST_TARGETS).map(|o| o.name.as_str()).collect();
    Ok(format!("job:\n  targets: [{}]\n  goal: {goal}", names.join(", ")))
}

/// What a scene without work for the autopilot should hear.
pub(crate) fn no_job(scene: &Scene, objects: &[ObjectSpec]) -> String {
    if scene.job.as_ref().is_some_and(|job| !job.brings()) {
        return format!(
            "the job of scene {} is to reach a place: work for learners, no autopilot does it",
            scene.name
        );
    }
    match job_hint(scene, objects) {
        Ok(lines) => format!(
            "scene {} has no `job:` for the autopilot; pick and place needs, with the figures \
             looked at:\n{lines}",
            scene.name
        ),
        Err(why) => format!("scene {} has no `job:` for the autopilot: {why}", scene.name),
    }
}

fn size(o: &ObjectSpec, axis: usize) -> f64 {
    o.box_m[1][axis] - o.box_m[0][axis]
}

/// The inside of a plate or a tray, by its parts; of a model's file by its box.
fn inside(goal: &ObjectSpec, object: Option<&Object>) -> String {
    let name = &goal.name;
    let parts: Vec<_> = object.iter().flat_map(|o| &o.parts).filter(|part| part.collides).collect();
    let floor = |shape: &Shape| match shape {
        Shape::Cylinder { radius_m, half_height_m }
        | Shape::Frustum { radius_m, half_height_m, .. } => Some((*radius_m, *half_height_m)),
        _ => None,
    };
    let round =
        parts.iter().find_map(|part| floor(&part.shape).map(|(r, h)| (r, part.pos_m[2] + h)));
    if let Some((radius, surface)) = round {
        let rim = parts.iter().find_map(|part| match part.shape {
            Shape::Ring { radius_m, bar_radius_m } => Some(radius_m - bar_radius_m),
            _ => None,
        });
        let radius = metres(rim.unwrap_or(INSIDE * radius));
        let surface = metres(surface);
        return format!("{{plate: {{object: {name}, radius_m: {radius}, surface_m: {surface}}}}}");
    }
    // The broadest part is the floor; what stands beside it is wall.
    let boxes = parts.iter().filter_map(|part| match part.shape {
        Shape::Box { half_m } => Some((part.pos_m, half_m)),
        _ => None,
    });
    let area = |half: &[f64; 3]| half[0] * half[1];
    let floor = boxes.max_by(|(_, a), (_, b)| area(a).total_cmp(&area(b)));
    let (mut half, surface) = match floor {
        Some((at, half)) => ([half[0], half[1]], at[2] + half[2]),
        None => ([size(goal, 0) / 2.0, size(goal, 1) / 2.0].map(|h| INSIDE * h), goal.box_m[1][2]),
    };
    for part in &parts {
        let Shape::Box { half_m: wall } = part.shape else { continue };
        if part.pos_m[2] + wall[2] <= surface {
            continue;
        }
        for axis in 0..2 {
            let face = part.pos_m[axis].abs() - wall[axis];
            if face > 0.0 {
                half[axis] = half[axis].min(face);
            }
        }
    }
    let wall = (goal.box_m[1][2] - surface).max(0.0);
    let wall = if wall > 1e-6 { format!(", wall_m: {}", metres(wall)) } else { String::new() };
    let [x, y] = half.map(metres);
    let surface = metres(surface);
    format!("{{tray: {{object: {name}, half_m: [{x}, {y}], surface_m: {surface}{wall}}}}}")
}

/// About where a thing starts, and on what height.
fn start(object: Option<&Object>) -> ([f64; 2], f64) {
    let Some(place) = object.map(|o| &o.place) else { return ([0.2, 0.0], 0.0) };
    let at = match (&place.spot_m, &place.rectangle, &place.ring) {
        (Some(spot), ..) => *spot,
        (_, Some(area), _) => [area.x_m, area.y_m].map(|[a, b]| f64::midpoint(a, b)),
        (.., Some(ring)) => ring.center_m,
        _ => [0.2, 0.0],
    };
    (at, place.surface_z_m)
}

fn metres(number: f64) -> f64 {
    (number * 1e4).round() / 1e4 + 0.0
}

#[cfg(test)]
mod tests {
    use citrange_core::scene::{Goal, Job};
    use citrange_core::yaml::from_yaml;

    use super::*;
    use crate::cell::{RigChoice, RigSource as _};
    use crate::simulated::SimulatedCell;

    #[derive(serde::Deserialize)]
    struct Lines {
        job: Job,
    }

    fn hinted(scene: &str) -> (Scene, Job) {
        let cell = SimulatedCell::of_scene(scene, None, RigChoice::default(), 0).unwrap();
        let lines = job_hint(cell.scene(), &cell.spec().objects).unwrap();
        let job: Lines = from_yaml(&lines, "hint").unwrap();
        (cell.scene().clone(), job.job)
    }

    #[test]
    fn a_hint_is_what_the_scene_says_itself() {
        for name in ["orange_plate", "multi_table_assembly"] {
            let (scene, job) = hinted(name);
            let own = scene.job.unwrap();
            assert_eq!((job.targets, job.goal), (own.targets, own.goal), "{name}");
        }
    }

    #[test]
    fn where_no_goal_stands_a_place_is_named() {
        let (scene, job) = hinted("block_box");
        assert_eq!(job.targets, scene.job.unwrap().targets);
        assert!(matches!(job.goal, Goal::VirtualPlate { .. }), "{:?}", job.goal);
    }

    #[test]
    fn nothing_to_bring_is_said() {
        let (mut scene, _) = hinted("block_box");
        scene.objects.clear();
        assert!(no_job(&scene, &[]).contains("no objects"), "{}", no_job(&scene, &[]));
    }
}
