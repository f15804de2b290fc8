//! Where every link of a chain is, how its points move, and what gravity asks of its joints.
//!
//! All memory is taken when it is made; nothing is allocated afterwards. Call
//! [`Kinematics::update`] first, everything else answers for those joint positions.

use nalgebra::Vector3;

use crate::chain::{Chain, ChainSite};
use crate::joint_motion::{JointMotion, PlacedJoint, RigidTransform};

/// Scratch for one chain.
#[derive(Clone, Debug)]
pub struct Kinematics {
    base: RigidTransform,
    gravity: Vector3<f64>,
    links: Vec<Link>,
    guards: Vec<(usize, Vector3<f64>, f64)>,
}

#[derive(Clone, Debug)]
struct Link {
    parent: Option<usize>,
    motion: JointMotion,
    mass: f64,
    com: Vector3<f64>,
    // What `update` fills in.
    placed: PlacedJoint,
    // Mass of this link and all behind it, and its first moment, in the world.
    mass_behind: f64,
    moment_behind: Vector3<f64>,
}

impl Kinematics {
    /// Scratch for a chain that passed [`Chain::check`].
    #[must_use]
    pub fn new(chain: &Chain) -> Self {
        let zero = Vector3::zeros();
        let links = chain.joints.iter().map(|j| Link {
            parent: j.parent,
            motion: JointMotion::of(j),
            mass: j.mass_kg,
            com: Vector3::from(j.com_m),
            placed: PlacedJoint { at: RigidTransform::IDENTITY, anchor_m: zero, axis: zero },
            mass_behind: 0.0,
            moment_behind: zero,
        });
        let guards = chain.guards.iter();
        let mut made = Self {
            base: RigidTransform::of(&chain.world_from_base),
            gravity: Vector3::from(chain.gravity_m_s2),
            links: links.collect(),
            guards: guards.map(|g| (g.link, Vector3::from(g.point_m), g.radius_m)).collect(),
        };
        let references: Vec<f64> = chain.joints.iter().map(|j| j.reference).collect();
        made.update(&references);
        made
    }

    /// Number of joints.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.links.len()
    }

    /// Places all links. Joints beyond the end of `positions` keep their last place.
    pub fn update(&mut self, positions: &[f64]) {
        for index in 0..self.links.len().min(positions.len()) {
            let before = match self.links[index].parent {
                Some(parent) => self.links[parent].placed.at,
                None => self.base,
            };
            let link = &mut self.links[index];
            link.placed = link.motion.place(&before, positions[index]);
        }
    }

    /// Frame of a joint's link.
    #[must_use]
    pub fn link(&self, joint: usize) -> RigidTransform {
        self.links[joint].placed.at
    }

    /// Frame of a site.
    #[must_use]
    pub fn site(&self, site: &ChainSite) -> RigidTransform {
        self.links[site.link].placed.at.then(&RigidTransform::of(&site.link_from_site))
    }

    /// Direction of a joint's axis in the world.
    #[must_use]
    pub fn axis(&self, joint: usize) -> Vector3<f64> {
        self.links[joint].placed.axis
    }

    /// A point on a joint's axis in the world.
    #[must_use]
    pub fn anchor(&self, joint: usize) -> Vector3<f64> {
        self.links[joint].placed.anchor_m
    }

    /// Whether a joint moves a link.
    #[must_use]
    pub fn moves(&self, joint: usize, link: usize) -> bool {
        let mut at = Some(link);
        while let Some(index) = at {
            if index == joint {
                return true;
            }
            at = self.links[index].parent;
        }
        false
    }

    /// How a point of a link moves, and how the link rotates, per unit of speed of a joint: one
    /// column of the position and of the rotation Jacobian.
    #[must_use]
    pub fn column(
        &self,
        joint: usize,
        link: usize,
        point_m: &Vector3<f64>,
    ) -> (Vector3<f64>, Vector3<f64>) {
        let by = &self.links[joint];
        if !self.moves(joint, link) {
            (Vector3::zeros(), Vector3::zeros())
        } else if by.motion.is_slide {
            (by.placed.axis, Vector3::zeros())
        } else {
            (by.placed.axis.cross(&(point_m - by.placed.anchor_m)), by.placed.axis)
        }
    }

    /// Torque (force for slides) that each joint needs to hold the chain against gravity.
    pub fn gravity_torques(&mut self, torques: &mut [f64]) {
        for link in &mut self.links {
            link.mass_behind = link.mass;
            let at = &link.placed.at;
            link.moment_behind = (at.pos_m + at.rot * link.com) * link.mass;
        }
        for index in (0..self.links.len()).rev() {
            let (mass, moment) = (self.links[index].mass_behind, self.links[index].moment_behind);
            if let Some(parent) = self.links[index].parent {
                self.links[parent].mass_behind += mass;
                self.links[parent].moment_behind += moment;
            }
        }
        for (link, torque) in self.links.iter().zip(torques) {
            let pull = if link.motion.is_slide {
                self.gravity * link.mass_behind
            } else {
                (link.moment_behind - link.placed.anchor_m * link.mass_behind).cross(&self.gravity)
            };
            *torque = -link.placed.axis.dot(&pull);
        }
    }

    /// The spheres around corners and ends of the hand: middle in the world and radius.
    pub fn guards(&self) -> impl Iterator<Item = (Vector3<f64>, f64)> + '_ {
        self.guards.iter().map(|(link, point, radius)| {
            let at = &self.links[*link].placed.at;
            (at.pos_m + at.rot * point, *radius)
        })
    }

    /// Height of the lowest point of the hand; infinite when nothing is guarded.
    #[must_use]
    pub fn lowest_m(&self) -> f64 {
        let height = |(link, point, radius): &(usize, Vector3<f64>, f64)| {
            let at = &self.links[*link].placed.at;
            let row = at.rot.row(2);
            at.pos_m.z + row[0] * point.x + row[1] * point.y + row[2] * point.z - radius
        };
        self.guards.iter().map(height).fold(f64::INFINITY, f64::min)
    }
}
