//! Edges of a path, measured by the time that they take at full speed.

use super::Joints;
use super::ramp::Ramp;
use crate::arm::JointLimit;
use crate::config::{Config, MAX_JOINTS};
use crate::motions::Motions;

/// Way-points nearer than this are the same: it is less than single precision can tell.
const SAME_RAD: f64 = 1e-9;

/// A way-point that is nearer than this to the straight way past it is left out, if that way is
/// proved free.
const NEAR_RAD: f64 = 1e-3;

/// A straight edge. Its length is a time: how long it takes when one joint moves at its largest
/// velocity all the way. So a speed of 1 is full speed on every edge.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    /// Where it begins.
    pub(super) from: Joints,
    /// Velocities of the joints at full speed.
    pub(super) direction: Joints,
    /// Its length, s.
    pub(super) length: f64,
    /// How the speed along it may change.
    pub(super) ramp: Ramp,
}

impl Edge {
    /// The point at a length from the beginning.
    pub(super) fn at(&self, length: f64) -> Joints {
        std::array::from_fn(|j| self.from[j] + self.direction[j] * length)
    }
}

/// The edges between points that all differ.
pub(super) fn edges(points: &[Joints], limits: &[JointLimit]) -> Vec<Edge> {
    let edge = |(from, to): (&Joints, &Joints)| {
        let moves: Joints = std::array::from_fn(|j| to[j] - from[j]);
        let joints = || moves.iter().zip(limits);
        let length = joints().map(|(m, l)| m.abs() / l.velocity).fold(0.0, f64::max);
        let direction = moves.map(|m| m / length);
        let least = |limit: fn(&JointLimit) -> f64| {
            let bounds = direction.iter().zip(limits).map(|(d, l)| limit(l) / d.abs());
            bounds.fold(f64::INFINITY, f64::min)
        };
        let ramp = Ramp { acceleration: least(|l| l.acceleration), jerk: least(|l| l.jerk) };
        Edge { from: *from, direction, length, ramp }
    };
    points.iter().zip(points.iter().skip(1)).map(edge).collect()
}

/// The way-points without those that repeat the one before or lie on a straight way.
pub(super) fn needed<M: Motions>(waypoints: &[Vec<f64>], motions: &mut M) -> Vec<Joints> {
    let mut points: Vec<Joints> = Vec::with_capacity(waypoints.len());
    for (index, waypoint) in waypoints.iter().enumerate() {
        let mut point = [0.0; MAX_JOINTS];
        point.iter_mut().zip(waypoint).for_each(|(p, w)| *p = *w);
        if points.last().is_some_and(|last| distance(last, &point) <= SAME_RAD) {
            // The end is kept to the last bit.
            if index + 1 < waypoints.len() || points.len() == 1 {
                continue;
            }
            points.pop();
        }
        while let [.., before, middle] = points.as_slice() {
            let config = |p: &Joints| Config(p.map(|p| p as f32));
            if distance_to_way(middle, before, &point) > NEAR_RAD
                || !motions.is_motion_free(&config(before), &config(&point))
            {
                break;
            }
            points.pop();
        }
        points.push(point);
    }
    points
}

fn distance(a: &Joints, b: &Joints) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn distance_to_way(point: &Joints, from: &Joints, to: &Joints) -> f64 {
    let dot = |a: &Joints, b: &Joints| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let way: Joints = std::array::from_fn(|j| to[j] - from[j]);
    let out: Joints = std::array::from_fn(|j| point[j] - from[j]);
    let square = dot(&way, &way);
    let fraction = if square > 0.0 { (dot(&out, &way) / square).clamp(0.0, 1.0) } else { 0.0 };
    distance(point, &std::array::from_fn(|j| from[j] + way[j] * fraction))
}
