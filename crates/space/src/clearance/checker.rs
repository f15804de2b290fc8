//! A robot in many configurations, ready to be asked how far it is from a map.

use citrange_lanes::{LANES, Lanes};
use citrange_robot::{BatchKinematics, Configs, Robot};

use super::near::{Probe, Roots};
use crate::error::SpaceError;
use citrange_lanes::Isa;

/// Answers for many configurations of one robot; one per thread. All memory is its own and is
/// used again by the next call.
#[derive(Clone, Debug)]
pub struct Checker {
    pub(super) batch: BatchKinematics,
    pub(super) isa: Isa,
    pub(super) spheres: Spheres,
    pub(super) bounds: Vec<Lanes>,
    pub(super) roots: Roots,
    /// Lanes, sphere and what is known of it, for spheres that must be looked at closely.
    pub(super) waiting: Vec<(usize, usize, Probe)>,
}

/// Spheres of a robot, in the order of their links.
#[derive(Clone, Debug)]
pub(super) struct Spheres {
    pub(super) links: Vec<u16>,
    pub(super) radii_m: Vec<f64>,
    pub(super) radii_f32: Vec<f32>,
}

impl Checker {
    /// For a robot, with an instruction set that this processor has.
    #[must_use]
    pub fn new(body: &Robot, isa: Isa) -> Self {
        let all = body.spheres();
        Self {
            isa,
            batch: BatchKinematics::new(body, isa),
            spheres: Spheres {
                links: all.iter().map(|s| s.link).collect(),
                radii_m: all.iter().map(|s| s.radius_m).collect(),
                radii_f32: all.iter().map(|s| s.radius_m as f32).collect(),
            },
            bounds: vec![Lanes::splat(0.0); all.len()],
            roots: Roots::default(),
            waiting: Vec::with_capacity(all.len() * LANES),
        }
    }

    /// As [`BatchKinematics::centres`].
    ///
    /// # Errors
    /// When the configurations have another number of joints than the robot.
    pub fn centres(
        &mut self,
        configs: &Configs,
        centres_m: &mut Vec<[f32; 3]>,
    ) -> Result<(), SpaceError> {
        Ok(self.batch.centres(configs, centres_m)?)
    }

    /// As [`BatchKinematics::self_collides`].
    ///
    /// # Errors
    /// When the configurations have another number of joints than the robot, there is not one
    /// answer for each, or the margin is no number.
    pub fn self_collides(
        &mut self,
        configs: &Configs,
        margin_m: f64,
        out: &mut [bool],
    ) -> Result<(), SpaceError> {
        Ok(self.batch.self_collides(configs, margin_m, out)?)
    }
}
