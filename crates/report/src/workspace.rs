//! Where robots stand, things start and go to, seen from above.

use citrange_core::scene::{Goal, Scene};
use serde::Serialize;

use crate::survey::EpisodeFacts;

/// Starts of the goal that differ by less are one place.
const SAME_PLACE_M: f64 = 0.005;

/// A disc seen from above.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Disc {
    /// Its middle.
    pub center_m: [f64; 2],
    /// Its radius.
    pub radius_m: f64,
}

/// A scene seen from above.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SceneFromAbove {
    /// Feet of the robots.
    pub robots_m: Vec<[f64; 2]>,
    /// Rectangles in which targets start, as lowest and highest x and y.
    pub starts_m: Vec<[[f64; 2]; 2]>,
    /// Name of the goal's object; `None` for a virtual plate.
    pub goal_object: Option<String>,
    /// Radius of the goal's inside; `None` for the top of an object.
    pub goal_radius_m: Option<f64>,
    /// The goal, if it stood in one place in all episodes.
    pub goal: Option<Disc>,
}

impl SceneFromAbove {
    /// The workspace of a scene with a job.
    pub(crate) fn of(scene: &Scene) -> Option<Self> {
        let job = scene.job.as_ref()?;
        let (goal_object, goal_radius_m) = match &job.goal {
            Goal::Plate { object, radius_m, .. } => (Some(object.clone()), Some(*radius_m)),
            Goal::VirtualPlate { radius_m, .. } => (None, Some(*radius_m)),
            Goal::Tray { object, .. } | Goal::TopOf { object } => (Some(object.clone()), None),
            Goal::VirtualTray { .. } | Goal::Reach { .. } => (None, None),
        };
        let rectangle = |name: &String| {
            let place = scene.objects.get(name)?.place.rectangle.as_ref()?;
            Some([[place.x_m[0], place.y_m[0]], [place.x_m[1], place.y_m[1]]])
        };
        let mut starts_m: Vec<_> = job.targets.iter().filter_map(rectangle).collect();
        starts_m.dedup();
        let robots_m = scene.robots.values().map(|robot| [robot.pos_m[0], robot.pos_m[1]]);
        let robots_m = robots_m.collect();
        Some(Self { robots_m, starts_m, goal_object, goal_radius_m, goal: None })
    }

    /// Takes the goal's place from the episodes, if they agree.
    pub(crate) fn set_goal(&mut self, episodes: &[EpisodeFacts]) {
        let mut places = episodes.iter().filter_map(|facts| facts.goal_m);
        let (Some(center_m), Some(radius_m)) = (places.next(), self.goal_radius_m) else { return };
        let near = |[x, y]: [f64; 2]| (x - center_m[0]).hypot(y - center_m[1]) < SAME_PLACE_M;
        self.goal = places.all(near).then_some(Disc { center_m, radius_m });
    }

    /// What the goal is called.
    pub(crate) fn goal_name(&self) -> &str {
        self.goal_object.as_deref().unwrap_or("goal")
    }
}
