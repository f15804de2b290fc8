//! Which links of a robot must not touch each other.

use citrange_core::rng::Rng;
use nalgebra::{Isometry3, Point3};

use super::convex::Convex;
use super::{Robot, RobotSettings, check_joints, link_of};
use crate::error::RobotError;

/// Links that touch in more than this part of all poses, and at home, are made that way.
const ALWAYS: f64 = 0.95;

/// Links whose spheres never came nearer than this in any pose that was tried cannot meet.
const NEVER_M: f64 = 0.1;

/// Pairs of links that can meet and must not: not neighbours, not allowed, not always touching,
/// not always far apart. What "always" means is found out by trying; the poses are the same
/// every time.
pub(crate) fn find(body: &Robot, settings: &RobotSettings) -> Result<Vec<[u16; 2]>, RobotError> {
    if settings.pair_samples == 0 {
        return Err(RobotError::setting("pair_samples", "must be above 0, such as 2000"));
    }
    let chain = &body.chain;
    let allowed = allowed(body, settings)?;
    let links = body.links.len() as u16;
    let parent = |link: u16| {
        let joint = usize::from(link).checked_sub(1)?;
        Some(chain.joints[joint].parent.map_or(0, |p| p as u16 + 1))
    };
    let has_spheres = |link: u16| body.spheres.iter().any(|s| s.link == link);
    let mut pairs: Vec<[u16; 2]> = Vec::new();
    for a in 0..links {
        for b in a + 1..links {
            let are_neighbours = parent(b) == Some(a) || parent(a) == Some(b);
            if has_spheres(a) && has_spheres(b) && !are_neighbours && !allowed.contains(&[a, b]) {
                pairs.push([a, b]);
            }
        }
    }

    let references: Vec<f64> = chain.joints.iter().map(|j| j.reference).collect();
    let home = settings.home.as_ref().unwrap_or(&references);
    check_joints(chain, home)?;
    let mut poses = vec![Isometry3::identity(); body.links.len()];
    body.link_poses(home, &mut poses)?;
    let touch = |gap_m: f64, poses: &[Isometry3<f64>], pair: [u16; 2]| {
        gap_m <= 0.0 && shapes_touch(body, poses, pair)
    };
    let at_home = |pair: &[u16; 2]| touch(gap_m(body, &poses, *pair), &poses, *pair);
    let touch_at_home: Vec<bool> = pairs.iter().map(at_home).collect();

    let mut rng = Rng::new(0);
    let mut touching = vec![0_usize; pairs.len()];
    let mut nearest_m = vec![f64::INFINITY; pairs.len()];
    let mut joints = vec![0.0; chain.joints.len()];
    for _ in 0..settings.pair_samples {
        for (at, joint) in joints.iter_mut().zip(&chain.joints) {
            let half = if joint.is_slide { 0.0 } else { std::f64::consts::PI };
            let whole = [joint.reference - half, joint.reference + half];
            let [low, high] = joint.range.unwrap_or(whole);
            *at = rng.uniform(low, high);
        }
        body.link_poses(&joints, &mut poses)?;
        for (index, pair) in pairs.iter().enumerate() {
            let gap = gap_m(body, &poses, *pair);
            nearest_m[index] = nearest_m[index].min(gap);
            touching[index] += usize::from(touch(gap, &poses, *pair));
        }
    }
    let most = ALWAYS * settings.pair_samples as f64;
    let keep = |index: usize| {
        let are_made_so = touch_at_home[index] && touching[index] as f64 > most;
        !are_made_so && nearest_m[index] < NEVER_M
    };
    Ok((0..pairs.len()).filter(|index| keep(*index)).map(|index| pairs[index]).collect())
}

impl Robot {
    /// Pairs of links that must not touch and do.
    ///
    /// # Errors
    /// When there are too few or too many joint positions, or one is no number.
    pub fn touching_pairs(&self, joints: &[f64]) -> Result<Vec<[u16; 2]>, RobotError> {
        let poses = self.forward_kinematics(joints)?;
        let touch = |pair: &&[u16; 2]| {
            gap_m(self, &poses, **pair) <= 0.0 && shapes_touch(self, &poses, **pair)
        };
        Ok(self.checked_pairs().iter().filter(touch).copied().collect())
    }
}

/// The settings' allowed pairs as numbers of links, lower first.
fn allowed(body: &Robot, settings: &RobotSettings) -> Result<Vec<[u16; 2]>, RobotError> {
    let link = |name: &String| {
        let by_body = body.shapes.iter().find(|s| s.body() == name).map(link_of);
        let found = by_body.or_else(|| body.links.iter().position(|l| l == name));
        found.map(|link| link as u16).ok_or_else(|| {
            let known = body.links.join(", ");
            let reason = format!("no link has a body \"{name}\"; the links are {known}");
            RobotError::setting("allowed_pairs", reason)
        })
    };
    let pairs = settings.allowed_pairs.iter().map(|[a, b]| {
        let (a, b) = (link(a)?, link(b)?);
        Ok([a.min(b), a.max(b)])
    });
    pairs.collect()
}

/// Distance between the spheres of two links; negative where they overlap.
fn gap_m(body: &Robot, poses: &[Isometry3<f64>], [a, b]: [u16; 2]) -> f64 {
    let of = |link: u16| {
        let at = poses[usize::from(link)];
        let own = body.spheres.iter().filter(move |s| s.link == link);
        own.map(move |s| (at * Point3::from(s.centre_m), s.radius_m))
    };
    let mut least = f64::INFINITY;
    for (p, r) in of(a) {
        for (q, s) in of(b) {
            least = least.min((p - q).norm() - r - s);
        }
    }
    least
}

/// Whether shapes of two links touch.
fn shapes_touch(body: &Robot, poses: &[Isometry3<f64>], [a, b]: [u16; 2]) -> bool {
    let of = |link: u16| {
        let own = body.shapes.iter().filter(move |s| link_of(s) == usize::from(link));
        let at = poses[usize::from(link)];
        own.map(move |s| (at * s.link_from_shape.isometry(), &s.shape))
    };
    of(a).any(|(at, shape)| {
        let one = Convex::new(&at, shape);
        of(b).any(|(at, shape)| !one.is_apart(&Convex::new(&at, shape), 0.0))
    })
}
