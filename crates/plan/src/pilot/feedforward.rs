//! Targets ahead of the motion, so that a soft servo follows it.
//!
//! A servo pulls with kp (target - position) - kv velocity. A target at the wanted position would
//! leave the arm behind by what damping, weight and inertia need; so the target is that much
//! ahead: (kv velocity + torque) / kp. The torques also tell whether the servos are strong enough.

use citrange_core::robot::Servo;
use citrange_robot::{Chain, Kinematics, LinkInertia};
use nalgebra::{Matrix3, Vector3};

use crate::error::PlanError;
use crate::timing::Moment;

/// Servos and masses of a robot.
#[derive(Clone, Debug)]
pub struct Feedforward {
    kinematics: Kinematics,
    gravity_m_s2: Vector3<f64>,
    links: Vec<Link>,
    arm_joints: usize,
    positions: Vec<f64>,
}

/// What a servo has to do at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoLoad {
    /// How far ahead of the wanted position the target must be, rad.
    pub ahead_rad: f64,
    /// Torque that it needs, N m.
    pub torque_nm: f64,
    /// Largest torque that it has, N m.
    pub most_nm: f64,
}

#[derive(Clone, Debug)]
struct Link {
    parent: Option<usize>,
    mass_kg: f64,
    com_m: Vector3<f64>,
    inertia: Matrix3<f64>,
    resists: LinkInertia,
    stiffness: f64,
    damping: f64,
    most_nm: f64,
    moves: Moves,
}

/// How a link moves, and what must act on it and on all links that it carries.
#[derive(Clone, Copy, Debug, Default)]
struct Moves {
    anchor_m: Vector3<f64>,
    angular_rad_s: Vector3<f64>,
    angular_rad_s2: Vector3<f64>,
    anchor_m_s2: Vector3<f64>,
    force_n: Vector3<f64>,
    /// About the origin of the world.
    torque_nm: Vector3<f64>,
}

impl Feedforward {
    /// For a robot and the gains of its servos. `inertias` of its links, where they are known;
    /// else masses count as points, and joints as free of friction.
    ///
    /// # Errors
    /// When the chain makes no sense, numbers of joints differ, an arm joint slides, or its servo
    /// has no stiffness.
    pub fn new(
        chain: &Chain,
        servo: &Servo,
        inertias: Option<&[LinkInertia]>,
    ) -> Result<Self, PlanError> {
        let what = || format!("servos of {}", chain.robot);
        chain.check().map_err(|e| PlanError::bad(what(), e.to_string()))?;
        let (found, joints) = (inertias.map(<[_]>::len), chain.joints.len());
        if let Some(found) = found.filter(|found| *found != joints) {
            return Err(PlanError::bad(what(), format!("{found} inertias for {joints} joints")));
        }
        let mut links = Vec::with_capacity(chain.joints.len());
        for (index, joint) in chain.joints.iter().enumerate() {
            let stiffness = servo.kp.at(index).unwrap_or(0.0);
            let damping = servo.kv.at(index).unwrap_or(0.0);
            let is_arm = index < chain.arm_joints;
            if is_arm && !(stiffness > 0.0 && stiffness.is_finite() && damping.is_finite()) {
                let reason =
                    format!("{}: kp {stiffness} and kv {damping}, kp must be above 0", joint.name);
                return Err(PlanError::bad(what(), reason));
            }
            if is_arm && joint.is_slide {
                let reason = format!("{} slides, only turning joints can be planned", joint.name);
                return Err(PlanError::bad(what(), reason));
            }
            let resists = inertias.and_then(|i| i.get(index)).copied().unwrap_or_default();
            links.push(Link {
                parent: joint.parent,
                mass_kg: joint.mass_kg,
                com_m: Vector3::from(joint.com_m),
                inertia: Matrix3::from_fn(|row, col| resists.inertia_kg_m2[row][col]),
                resists,
                stiffness,
                damping,
                most_nm: servo.force.at(index).unwrap_or(f64::INFINITY),
                moves: Moves::default(),
            });
        }
        Ok(Self {
            kinematics: Kinematics::new(chain),
            gravity_m_s2: Vector3::from(chain.gravity_m_s2),
            positions: vec![0.0; links.len()],
            links,
            arm_joints: chain.arm_joints,
        })
    }

    /// All joints of the robot.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.links.len()
    }

    /// What the servos of the arm's joints have to do at a moment. `all` has the positions of the
    /// joints that are not the arm's, which rest.
    pub fn loads<'a>(
        &'a mut self,
        moment: &'a Moment,
        all: &[f64],
    ) -> impl Iterator<Item = ServoLoad> + 'a {
        self.positions.iter_mut().zip(all).for_each(|(to, from)| *to = *from);
        let arm = self.positions.iter_mut().take(self.arm_joints);
        arm.zip(&moment.positions).for_each(|(to, from)| *to = *from);
        self.kinematics.update(&self.positions);
        self.move_links(moment);
        self.carry_links();
        let rates = moment.velocities.iter().zip(&moment.accelerations);
        let arm = self.links.iter().take(self.arm_joints).enumerate();
        arm.zip(rates).map(|((index, link), (velocity, acceleration))| {
            let Moves { anchor_m, force_n, torque_nm, .. } = link.moves;
            let about_axis = torque_nm - anchor_m.cross(&force_n);
            let friction = if *velocity == 0.0 { 0.0 } else { velocity.signum() };
            let torque_nm = self.kinematics.axis(index).dot(&about_axis)
                + link.resists.armature_kg_m2 * acceleration
                + link.resists.damping_nm_s * velocity
                + link.resists.friction_nm * friction;
            let ahead_rad = (link.damping * velocity + torque_nm) / link.stiffness;
            ServoLoad { ahead_rad, torque_nm, most_nm: link.most_nm }
        })
    }

    /// From the base outwards: how every link rotates and its anchor is accelerated.
    fn move_links(&mut self, moment: &Moment) {
        for index in 0..self.links.len() {
            let parent = self.links[index].parent.map(|p| self.links[p].moves);
            let before = parent.unwrap_or_default();
            let axis = self.kinematics.axis(index);
            let rate = |of: &[f64]| match of.get(index) {
                Some(rate) if index < self.arm_joints => axis * *rate,
                _ => Vector3::zeros(),
            };
            let (angular, angular_change) = (rate(&moment.velocities), rate(&moment.accelerations));
            let anchor_m = self.kinematics.anchor(index);
            let from_parent = anchor_m - before.anchor_m;
            self.links[index].moves = Moves {
                anchor_m,
                angular_rad_s: before.angular_rad_s + angular,
                angular_rad_s2: before.angular_rad_s2
                    + angular_change
                    + before.angular_rad_s.cross(&angular),
                anchor_m_s2: before.anchor_m_s2 + acceleration(&before, &from_parent),
                force_n: Vector3::zeros(),
                torque_nm: Vector3::zeros(),
            };
        }
    }

    /// From the tips inwards: what must act on every link and all that it carries.
    fn carry_links(&mut self) {
        for index in (0..self.links.len()).rev() {
            let link = &self.links[index];
            let at = self.kinematics.link(index);
            let com_m = at.pos_m + at.rot * link.com_m;
            let moves = &link.moves;
            let com_m_s2 = moves.anchor_m_s2 + acceleration(moves, &(com_m - moves.anchor_m));
            let own_n = (com_m_s2 - self.gravity_m_s2) * link.mass_kg;
            let inertia = at.rot * link.inertia * at.rot.transpose();
            let angular = moves.angular_rad_s;
            let own_nm = inertia * moves.angular_rad_s2 + angular.cross(&(inertia * angular));
            let parent = link.parent;
            let moves = &mut self.links[index].moves;
            moves.force_n += own_n;
            moves.torque_nm += com_m.cross(&own_n) + own_nm;
            let (force_n, torque_nm) = (moves.force_n, moves.torque_nm);
            if let Some(parent) = parent {
                self.links[parent].moves.force_n += force_n;
                self.links[parent].moves.torque_nm += torque_nm;
            }
        }
    }
}

/// Acceleration of a point of a link relative to the link's anchor.
fn acceleration(link: &Moves, from_anchor_m: &Vector3<f64>) -> Vector3<f64> {
    let velocity = link.angular_rad_s.cross(from_anchor_m);
    link.angular_rad_s2.cross(from_anchor_m) + link.angular_rad_s.cross(&velocity)
}
