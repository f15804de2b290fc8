//! Where things have to go, as numbers at this moment.

use citrange_core::rig::ConvexBody;
use citrange_core::scene::Goal as GoalSpec;
use citrange_core::{ObjectSeen, Observation, RigSpec};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use crate::choice::Obstacle;
use crate::error::TaskError;
use crate::hull::Form;
use crate::judge::{PlateWatch, Region};
use crate::spots::Area;

/// Name of walls that are no object.
pub(crate) const WALLS: &str = "the goal's wall";
/// Half the thickness that they are taken to have.
const WALL_HALF_M: f64 = 0.0025;

/// A goal of a rig.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Goal {
    /// A disc inside an object.
    Plate { object: usize, radius_m: f64, surface_m: f64 },
    /// A disc where nothing stands.
    Virtual { center_m: [f64; 3], radius_m: f64 },
    /// A rectangle inside an object.
    Tray { object: usize, half_m: [f64; 2], surface_m: f64, wall_m: f64 },
    /// A rectangle that is no object.
    VirtualTray { center_m: [f64; 3], half_m: [f64; 2], yaw_rad: f64, wall_m: f64 },
    /// The top of an object's box.
    Top { object: usize, box_m: [[f64; 3]; 2] },
}

/// The place of an object among those that a rig sees.
pub(crate) fn object_index(spec: &RigSpec, name: &str) -> Result<usize, TaskError> {
    spec.objects.iter().position(|o| o.name == name).ok_or_else(|| {
        TaskError::unknown("object", name, spec.objects.iter().map(|o| o.name.as_str()))
    })
}

impl Goal {
    pub(crate) fn of(spec: &RigSpec, goal: &GoalSpec) -> Result<Self, TaskError> {
        Ok(match goal {
            GoalSpec::Plate { object, radius_m, surface_m } => {
                let object = object_index(spec, object)?;
                Self::Plate { object, radius_m: *radius_m, surface_m: *surface_m }
            }
            GoalSpec::VirtualPlate { center_m, radius_m } => {
                Self::Virtual { center_m: *center_m, radius_m: *radius_m }
            }
            GoalSpec::Tray { object, half_m, surface_m, wall_m } => Self::Tray {
                object: object_index(spec, object)?,
                half_m: *half_m,
                surface_m: *surface_m,
                wall_m: *wall_m,
            },
            GoalSpec::VirtualTray { center_m, half_m, yaw_deg, wall_m } => Self::VirtualTray {
                center_m: *center_m,
                half_m: *half_m,
                yaw_rad: yaw_deg.to_radians(),
                wall_m: *wall_m,
            },
            GoalSpec::TopOf { object } => {
                let object = object_index(spec, object)?;
                Self::Top { object, box_m: spec.objects[object].box_m }
            }
            GoalSpec::Reach { .. } => return Err(TaskError::NothingToBring),
        })
    }

    /// The object that it is part of.
    pub(crate) fn object(&self) -> Option<usize> {
        match self {
            Self::Plate { object, .. } | Self::Tray { object, .. } | Self::Top { object, .. } => {
                Some(*object)
            }
            Self::Virtual { .. } | Self::VirtualTray { .. } => None,
        }
    }

    /// Its object, as it is seen.
    pub(crate) fn seen<'a>(&self, seen: &'a Observation) -> Option<&'a ObjectSeen> {
        seen.objects.get(self.object()?)?.as_ref()
    }

    /// Where things have to lie now; `None` when its object is not seen.
    pub(crate) fn region(&self, seen: &Observation) -> Option<Region> {
        match self {
            Self::Virtual { center_m, radius_m } => {
                Some(Region::Disc { center_m: *center_m, radius_m: *radius_m })
            }
            Self::Plate { radius_m, surface_m, .. } => {
                let [x, y, z] = self.seen(seen)?.pose.pos_m;
                Some(Region::Disc { center_m: [x, y, z + surface_m], radius_m: *radius_m })
            }
            Self::VirtualTray { center_m, half_m, yaw_rad, wall_m } => Some(Region::Inside {
                center_m: *center_m,
                half_m: *half_m,
                yaw_rad: *yaw_rad,
                depth_m: *wall_m,
            }),
            Self::Tray { half_m, surface_m, wall_m, .. } => {
                let object = self.seen(seen)?;
                let [x, y, z] = object.pose.pos_m;
                Some(Region::Inside {
                    center_m: [x, y, z + surface_m],
                    half_m: *half_m,
                    yaw_rad: yaw(object),
                    depth_m: *wall_m,
                })
            }
            Self::Top { box_m: [low, high], .. } => {
                let object = self.seen(seen)?;
                let [x, y, z] = object.pose.pos_m;
                Some(Region::Top {
                    center_m: [x, y, z + high[2]],
                    half_m: [(high[0] - low[0]) / 2.0, (high[1] - low[1]) / 2.0],
                    yaw_rad: yaw(object),
                })
            }
        }
    }

    /// A watch over its object from now on.
    pub(crate) fn watch(&self, seen: &Observation) -> Option<PlateWatch> {
        match self {
            Self::Virtual { .. } | Self::VirtualTray { .. } => Some(PlateWatch::of_virtual_plate()),
            _ => self.seen(seen).map(PlateWatch::begin),
        }
    }

    /// Where things may be put beside each other now; `None` for a goal of one place.
    pub(crate) fn area(&self, seen: &Observation) -> Option<Area> {
        let region = self.region(seen)?;
        let [x, y, _] = region.center_m();
        match region {
            Region::Top { .. } => None,
            Region::Disc { radius_m, .. } => Some(Area::Disc { center_xy: [x, y], radius_m }),
            Region::Inside { half_m, yaw_rad, .. } => {
                Some(Area::Rectangle { center_xy: [x, y], half_m, yaw_rad })
            }
        }
    }

    /// Walls that are no object, as things in the way.
    pub(crate) fn walls(&self) -> Vec<Obstacle> {
        let Self::VirtualTray { center_m: [x, y, z], half_m: [a, b], yaw_rad, wall_m } = *self
        else {
            return Vec::new();
        };
        if wall_m <= 0.0 {
            return Vec::new();
        }
        let turned = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw_rad);
        let world_from_tray = Isometry3::from_parts(Translation3::new(x, y, z), turned);
        let (high, thick) = (wall_m / 2.0, WALL_HALF_M);
        let wall = |at: [f64; 2], half: [f64; 2]| {
            let hull = ConvexBody::cuboid([half[0], half[1], high]);
            let at = world_from_tray * Translation3::new(at[0], at[1], high);
            Form::of(&hull).at(at.rotation.to_rotation_matrix().matrix(), &at.translation.vector)
        };
        let bodies = vec![
            wall([a + thick, 0.0], [thick, b]),
            wall([-a - thick, 0.0], [thick, b]),
            wall([0.0, b + thick], [a, thick]),
            wall([0.0, -b - thick], [a, thick]),
        ];
        let (radius_m, top_m) = (a.hypot(b), z + wall_m);
        vec![Obstacle { name: WALLS.to_owned(), at_m: [x, y], radius_m, top_m, bodies }]
    }

    /// The yaw that things must have there, if one.
    pub(crate) fn yaw(&self, seen: &Observation) -> Option<f64> {
        match self {
            Self::Top { .. } => self.seen(seen).map(yaw),
            _ => None,
        }
    }
}

/// Yaw of an object about the vertical.
pub(crate) fn yaw(object: &ObjectSeen) -> f64 {
    let rotation: UnitQuaternion<f64> = object.pose.isometry().rotation;
    rotation.euler_angles().2
}
