//! Things that come into the arm's way.

use citrange_core::rng::Rng;
use citrange_core::scene::{Object, Place};
use citrange_core::shape::{Part, Shape};
use citrange_core::yaml::from_yaml;
use citrange_core::{Pose, Scene};
use citrange_robot::Robot;
use serde::Serialize;

use crate::cell::SimCell;
use crate::controller::SimDriver;
use crate::happenings::{Happenings, Moment, Placed};

/// Names of the things that come, in the trial's scene.
const BOX: &str = "comer_box";
const PERSON: &str = "comer_person";
const BALL: &str = "comer_ball";
const PUSHED: &str = "comer_pushed";

/// A person's height, and the radius of the capsule that stands for one.
const PERSON_M: [f64; 2] = [1.7, 0.15];
/// Where the floor is in the cell.
const FLOOR_M: f64 = -0.75;
/// A box must not appear in the arm itself.
const CLEAR_M: f64 = 0.12;

/// What comes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "coming", rename_all = "snake_case")]
pub enum Coming {
    /// A box of 10 cm is there from one moment to the next, on the rest of the path.
    Dropped {
        /// So long ahead of the arm.
        ahead_s: f64,
    },
    /// A person walks past, as near as the arm reaches.
    Walking {
        /// How fast.
        speed_m_s: f64,
    },
    /// A ball is thrown at the arm.
    Thrown {
        /// How fast.
        speed_m_s: f64,
    },
    /// A box on the table is pushed towards the arm.
    Pushed {
        /// How fast.
        speed_m_s: f64,
    },
}

/// A scene with the things that come, far away; without the other things, so that what is measured
/// is what comes.
pub fn scene_with_comers(scene: &mut Scene) {
    let things = [
        (BOX, Shape::Box { half_m: [0.05; 3] }, 1.0, 5.0),
        (
            PERSON,
            Shape::Capsule {
                radius_m: PERSON_M[1],
                half_height_m: PERSON_M[0] / 2.0 - PERSON_M[1],
            },
            70.0,
            6.0,
        ),
        (BALL, Shape::Sphere { radius_m: 0.06 }, 0.2, 7.0),
        (PUSHED, Shape::Box { half_m: [0.08, 0.08, 0.1] }, 2.0, 8.0),
    ];
    scene.objects.clear();
    for (name, shape, mass_kg, x_m) in things {
        if let Some(object) = object(shape, mass_kg, x_m) {
            scene.objects.insert(name.to_owned(), object);
        }
    }
}

fn object(shape: Shape, mass_kg: f64, x_m: f64) -> Option<Object> {
    // The scene's own reader fills in everything else.
    let mut part: Part = from_yaml("{shape: {sphere: {radius_m: 1}}, mass_kg: 1}", "part").ok()?;
    (part.shape, part.mass_kg) = (shape, mass_kg);
    let place = format!("{{spot_m: [{x_m}, 5], surface_z_m: {FLOOR_M}}}");
    let place: Place = from_yaml(&place, "place").ok()?;
    let object: Object = from_yaml("{place: {spot_m: [0, 0]}}", "object").ok()?;
    Some(Object { parts: vec![part], place, ..object })
}

impl Coming {
    /// Makes it happen in a cell.
    #[must_use]
    pub fn happenings(self, cell: &SimCell, rng: &mut Rng) -> Box<dyn Happenings> {
        let at_s = rng.uniform(0.1, 1.0);
        let body = cell.arm.body().clone();
        let driver = cell.driver.clone();
        match self {
            Self::Dropped { ahead_s } => {
                Box::new(Dropped { body, driver, at_s, ahead_s, place: None })
            }
            Self::Walking { speed_m_s } => {
                let way = rng.uniform(0.0, 1.0) < 0.5;
                Box::new(Walking { speed_m_s, at_s, forward: way, x_m: rng.uniform(0.78, 0.85) })
            }
            Self::Thrown { speed_m_s } => Box::new(Thrown { body, speed_m_s, at_s, thrown: false }),
            Self::Pushed { speed_m_s } => {
                Box::new(Pushed { speed_m_s, at_s, x_m: rng.uniform(0.45, 0.55) })
            }
        }
    }
}

fn upright(pos_m: [f64; 3]) -> Pose {
    Pose { pos_m, ..Pose::IDENTITY }
}

/// A box that hangs where the arm will be.
struct Dropped {
    body: Robot,
    driver: SimDriver,
    at_s: f64,
    ahead_s: f64,
    place: Option<[f64; 3]>,
}

impl Happenings for Dropped {
    fn next(&mut self, moment: &Moment<'_>) -> Vec<Placed> {
        if self.place.is_none()
            && moment.moving_s.is_some_and(|moving| moving >= self.at_s)
            && let Some(joints) = self.driver.controller().ahead(self.ahead_s)
        {
            let tool = self.body.tool_at(&joints).ok();
            let mut shapes = Vec::new();
            let is_posed = self.body.shapes_at(moment.joints, &mut shapes).is_ok();
            let clear = |at: [f64; 3]| shapes.iter().all(|s| s.distance_m(at) > CLEAR_M);
            self.place = tool.filter(|at| is_posed && clear(*at));
        }
        // Somebody holds it there.
        let placed = self.place.map(|at| Placed {
            name: BOX.to_owned(),
            pose: upright(at),
            velocity_m_s: [0.0; 3],
        });
        placed.into_iter().collect()
    }
}

/// A person who walks past beyond the table.
struct Walking {
    speed_m_s: f64,
    at_s: f64,
    forward: bool,
    x_m: f64,
}

impl Happenings for Walking {
    fn next(&mut self, moment: &Moment<'_>) -> Vec<Placed> {
        let Some(since_s) = moment.moving_s.map(|s| s - self.at_s).filter(|s| *s >= 0.0) else {
            return Vec::new();
        };
        // Along y = 0.8 beside the table, which the arm can reach.
        let along_m = 1.6 - self.speed_m_s * since_s;
        let (x_m, sign) = if self.forward { (along_m, -1.0) } else { (0.8 - along_m, 1.0) };
        if !(-0.8..=1.6).contains(&x_m) {
            return vec![Placed {
                name: PERSON.to_owned(),
                pose: upright([6.0, 5.0, 0.2]),
                velocity_m_s: [0.0; 3],
            }];
        }
        vec![Placed {
            name: PERSON.to_owned(),
            pose: upright([x_m, self.x_m, FLOOR_M + PERSON_M[0] / 2.0]),
            velocity_m_s: [sign * self.speed_m_s, 0.0, 0.0],
        }]
    }
}

/// A ball that flies at where the arm is.
struct Thrown {
    body: Robot,
    speed_m_s: f64,
    at_s: f64,
    thrown: bool,
}

impl Happenings for Thrown {
    fn next(&mut self, moment: &Moment<'_>) -> Vec<Placed> {
        if self.thrown || moment.moving_s.is_none_or(|moving| moving < self.at_s) {
            return Vec::new();
        }
        self.thrown = true;
        let Ok(at) = self.body.tool_at(moment.joints) else { return Vec::new() };
        // From the camera's side, so that it flies through the whole picture.
        let from = [1.5, 0.0, 0.6];
        let way: [f64; 3] = std::array::from_fn(|a| at[a] - from[a]);
        let length = way.iter().map(|w| w * w).sum::<f64>().sqrt();
        let time_s = length / self.speed_m_s;
        let mut velocity: [f64; 3] = std::array::from_fn(|a| way[a] / time_s);
        // It falls meanwhile.
        velocity[2] += 0.5 * 9.81 * time_s;
        vec![Placed { name: BALL.to_owned(), pose: upright(from), velocity_m_s: velocity }]
    }
}

/// A box that slides over the table towards the robot, under the arm's way.
struct Pushed {
    speed_m_s: f64,
    at_s: f64,
    x_m: f64,
}

impl Happenings for Pushed {
    fn next(&mut self, moment: &Moment<'_>) -> Vec<Placed> {
        let Some(since_s) = moment.moving_s.map(|s| s - self.at_s).filter(|s| *s >= 0.0) else {
            return Vec::new();
        };
        // From the table's edge to its middle, held up so that it stands in the arm's way.
        let y_m = (0.7 - self.speed_m_s * since_s).max(0.0);
        let velocity = if y_m > 0.0 { -self.speed_m_s } else { 0.0 };
        vec![Placed {
            name: PUSHED.to_owned(),
            pose: upright([self.x_m, y_m, 0.42]),
            velocity_m_s: [0.0, velocity, 0.0],
        }]
    }
}
