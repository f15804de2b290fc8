//! Where things have to go, as numbers at this moment.

use citrange_core::scene::Goal as GoalSpec;
use citrange_core::{ObjectSeen, Observation, RigSpec};
use nalgebra::UnitQuaternion;

use crate::choice::Rim;
use crate::error::TaskError;
use crate::judge::{PlateWatch, Region};

/// A goal of a rig.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Goal {
    /// A disc inside an object.
    Plate { object: usize, radius_m: f64, surface_m: f64, rim_m: f64 },
    /// A disc where nothing stands.
    Virtual { center_m: [f64; 3], radius_m: f64 },
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
                let rim_m = spec.objects[object].box_m[1][2];
                Self::Plate { object, radius_m: *radius_m, surface_m: *surface_m, rim_m }
            }
            GoalSpec::VirtualPlate { center_m, radius_m } => {
                Self::Virtual { center_m: *center_m, radius_m: *radius_m }
            }
            GoalSpec::TopOf { object } => {
                let object = object_index(spec, object)?;
                Self::Top { object, box_m: spec.objects[object].box_m }
            }
        })
    }

    /// The object that it is part of.
    pub(crate) fn object(&self) -> Option<usize> {
        match self {
            Self::Plate { object, .. } | Self::Top { object, .. } => Some(*object),
            Self::Virtual { .. } => None,
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
            Self::Virtual { .. } => Some(PlateWatch::of_virtual_plate()),
            _ => self.seen(seen).map(PlateWatch::begin),
        }
    }

    /// Its rim, for jaws that work inside.
    pub(crate) fn rim(&self, seen: &Observation) -> Option<Rim> {
        let Self::Plate { radius_m, rim_m, .. } = self else { return None };
        let [x, y, z] = self.seen(seen)?.pose.pos_m;
        Some(Rim { center_m: [x, y], radius_m: *radius_m, top_m: z + rim_m })
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
