//! A robot made ready for the kernels: links, spheres, and how far each joint can move each sphere.

use citrange_core::shape::Shape;
use citrange_robot::{Convex, LinkShape, Sphere};
use nalgebra::{Isometry3, Point3, Vector3};

use super::joints::Joints;
use super::mount::Stand;
use crate::arm::PlannedArm;
use crate::error::PlanError;

/// Constants of a robot. Link 0 stands still; link `k + 1` is moved by planned joint `k`, and
/// what hangs on joints that are held is part of it. What is held in the hand, and links that may
/// touch what others may not, are links of their own behind these, with the frame of another.
#[derive(Clone, Debug)]
pub(super) struct KernelRobot {
    pub(super) joints: Joints,
    pub(super) links: Vec<Link>,
    /// The body's spheres in the order of these links, then one around each link, then one around
    /// the shapes of each link.
    pub(super) spheres: Vec<KernelSphere>,
    pub(super) own_spheres: usize,
    pub(super) pairs: Vec<Pair>,
    /// `levers[joint][sphere]`: the sphere's centre is never further than this from the joint's
    /// axis; 0 where the joint does not move it, 1 where the joint slides.
    pub(super) levers: Vec<Vec<f32>>,
    /// Whether links that no planned joint moves against each other touch.
    pub(super) touches_always: bool,
    pub(super) stand: Stand,
    /// Of every link of the body: the link that carries it here.
    pub(super) carriers: Vec<usize>,
    /// Of every link of the body and every thing that is held: the link that it is here.
    pub(super) groups: Vec<usize>,
}

/// One link.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Number of its frame.
    pub(super) frame: usize,
    pub(super) spheres: std::ops::Range<usize>,
    /// Number of the sphere around them.
    pub(super) around: usize,
    /// Number of the sphere around its shapes.
    pub(super) around_shapes: usize,
    /// The centre of the sphere around it stays within a sphere: centre and radius, in the world.
    pub(super) home_m: ([f64; 3], f64),
}

/// A sphere in the frame of its link.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelSphere {
    pub(super) link: usize,
    pub(super) centre_m: [f32; 3],
    pub(super) radius_m: f32,
}

/// Two links that must not touch, the one nearer to the base first.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) links: [usize; 2],
    /// Balls of theirs that can meet.
    pub(super) spheres: Vec<[u16; 2]>,
    /// Whether shapes decide where spheres meet.
    pub(super) has_shapes: bool,
    /// Shapes of each of the two, in the frames of the links.
    pub(super) shapes: [Vec<(Isometry3<f64>, Shape)>; 2],
}

impl KernelRobot {
    /// `alone`: links of the body and held things that are links of their own here.
    pub(super) fn new(arm: &PlannedArm, alone: &[usize]) -> Result<Self, PlanError> {
        let body = arm.body();
        let planned = arm.joints();
        let joints = Joints::new(arm)?;
        let mut frames = joints.link_from_body(body, arm.held(), planned)?;
        let carriers = frames.iter().map(|(carrier, _)| *carrier).collect();
        // Held things as further links of the body.
        let own_links = frames.len();
        let mut body_spheres = body.spheres().to_vec();
        let mut body_shapes = body.link_shapes().to_vec();
        for (number, thing) in arm.things().iter().enumerate() {
            frames.push(frames[thing.link()]);
            let link = own_links + number;
            let spheres = thing.spheres().iter();
            body_spheres.extend(spheres.map(|s| Sphere { link: link as u16, ..*s }));
            let shapes = thing.shapes().iter();
            // One less: shapes count joints, from the one after the base on.
            body_shapes.extend(shapes.map(|s| LinkShape { link: Some(link - 1), ..s.clone() }));
        }
        let mut groups: Vec<usize> = frames.iter().map(|(carrier, _)| *carrier).collect();
        let mut group_frames: Vec<usize> = (0..=planned).collect();
        for (link, group) in groups.iter_mut().enumerate() {
            if *group > 0 && (link >= own_links || alone.contains(&link)) {
                group_frames.push(*group);
                *group = group_frames.len() - 1;
            }
        }
        // The body's spheres, sorted by the link that they are of here.
        let mut order: Vec<usize> = (0..body_spheres.len()).collect();
        order.sort_by_key(|sphere| groups[usize::from(body_spheres[*sphere].link)]);
        // Link here, place in its frame, radius.
        let placed: Vec<(usize, Point3<f64>, f64)> = order
            .iter()
            .map(|index| {
                let sphere = &body_spheres[*index];
                let link = usize::from(sphere.link);
                (groups[link], frames[link].1 * Point3::from(sphere.centre_m), sphere.radius_m)
            })
            .collect();
        let mut shapes = vec![Vec::new(); group_frames.len()];
        for shape in &body_shapes {
            let link = shape.link.map_or(0, |joint| joint + 1);
            let placed = frames[link].1 * shape.link_from_shape.isometry();
            shapes[groups[link]].push((placed, shape.shape.clone()));
        }
        let in_frame = |(group, centre, radius_m): &(usize, Point3<f64>, f64)| {
            (group_frames[*group], *centre, *radius_m)
        };
        let mut spheres: Vec<_> = placed.iter().map(in_frame).collect();
        let mut links = Vec::new();
        for (link, frame) in group_frames.iter().enumerate() {
            let from = placed.partition_point(|(of, ..)| *of < link);
            let to = placed.partition_point(|(of, ..)| *of <= link);
            let (centre, radius_m) = sphere_around(
                &placed[from..to].iter().map(|(_, c, r)| (*c, *r)).collect::<Vec<_>>(),
            );
            spheres.push((*frame, centre, radius_m));
            links.push(Link {
                frame: *frame,
                spheres: from..to,
                around: placed.len() + link,
                around_shapes: placed.len() + group_frames.len() + link,
                home_m: joints.home(*frame, &centre),
            });
        }
        for (link, of) in shapes.iter().enumerate() {
            let around: Vec<_> = of
                .iter()
                .map(|(at, shape)| {
                    let size_m = Vector3::from(shape.reach_m()).norm();
                    (Point3::from(at.translation.vector), size_m)
                })
                .collect();
            let (centre, radius_m) = sphere_around(&around);
            spheres.push((group_frames[link], centre, radius_m));
        }
        // What the robot stands with: all that a frame carries, in the order of the body.
        let mut frame_shapes = vec![Vec::new(); planned + 1];
        for shape in body.link_shapes() {
            let (frame, at) = &frames[shape.link.map_or(0, |joint| joint + 1)];
            let placed = at * shape.link_from_shape.isometry();
            frame_shapes[*frame].push((placed, shape.shape.clone()));
        }
        let mut levers = Vec::new();
        for joint in 0..planned {
            let of =
                |(link, c, _): &(usize, Point3<f64>, f64)| joints.lever(joint, *link, c) as f32;
            let mut row: Vec<f32> = spheres.iter().map(of).collect();
            // The sphere around a link stands for all of its spheres.
            for link in &links {
                row[link.around] = row[link.spheres.clone()].iter().fold(0.0, |m, l| m.max(*l));
            }
            levers.push(row);
        }
        let mut made = Self {
            levers,
            own_spheres: placed.len(),
            spheres: spheres.iter().map(KernelSphere::of).collect(),
            links,
            pairs: Vec::new(),
            touches_always: false,
            stand: joints.stand(&frame_shapes),
            carriers,
            groups,
            joints,
        };
        let order: Vec<u16> = order.into_iter().map(|index| body_spheres[index].link).collect();
        made.find_pairs(&arm.checked_pairs(), &body_shapes, &frames, &order);
        Ok(made)
    }

    /// `order`: of every sphere, the link of the body.
    fn find_pairs(
        &mut self,
        pairs: &[[u16; 2]],
        body_shapes: &[LinkShape],
        frames: &[(usize, Isometry3<f64>)],
        order: &[u16],
    ) {
        let own = |link: u16| {
            let is_own = move |at: &usize| order[*at] == link;
            (0..order.len()).filter(is_own).map(|at| at as u16)
        };
        let shapes = |link: u16| -> Vec<(Isometry3<f64>, Shape)> {
            let of = |joint: Option<usize>| joint.map_or(0, |j| j + 1) == usize::from(link);
            let own = body_shapes.iter().filter(|s| of(s.link));
            let at = &frames[usize::from(link)].1;
            own.map(|s| (at * s.link_from_shape.isometry(), s.shape.clone())).collect()
        };
        for [a, b] in pairs {
            let carriers = [frames[usize::from(*a)].0, frames[usize::from(*b)].0];
            let (first, second) = if carriers[0] <= carriers[1] { (*a, *b) } else { (*b, *a) };
            let spheres: Vec<[u16; 2]> =
                own(first).flat_map(|x| own(second).map(move |y| [x, y])).collect();
            let shapes = [shapes(first), shapes(second)];
            if carriers[0] == carriers[1] {
                self.touches_always |= self.touch_at_rest(&spheres, &shapes);
                continue;
            }
            let pair = Pair {
                links: [first, second].map(|link| self.groups[usize::from(link)]),
                spheres,
                has_shapes: shapes.iter().all(|s| !s.is_empty()),
                shapes,
            };
            self.pairs.push(pair);
        }
    }

    /// Whether a link is a thing that is held.
    pub(super) fn is_held(&self, link: usize) -> bool {
        self.groups[self.carriers.len()..].contains(&link)
    }

    /// Whether two parts of one link touch: the shapes decide where there are any.
    fn touch_at_rest(
        &self,
        spheres: &[[u16; 2]],
        shapes: &[Vec<(Isometry3<f64>, Shape)>; 2],
    ) -> bool {
        let [first, second] = shapes;
        let meet = spheres.iter().any(|pair| {
            let [a, b] = pair.map(|sphere| &self.spheres[usize::from(sphere)]);
            let [p, q] = [a, b].map(|sphere| Vector3::from(sphere.centre_m));
            (p - q).norm() < a.radius_m + b.radius_m
        });
        let is_apart = |(at, shape): &(Isometry3<f64>, Shape)| {
            let one = Convex::new(at, shape);
            second.iter().all(|(at, shape)| one.is_apart(&Convex::new(at, shape), 0.0))
        };
        meet && (first.is_empty() || second.is_empty() || !first.iter().all(is_apart))
    }
}

impl KernelSphere {
    fn of((link, centre, radius_m): &(usize, Point3<f64>, f64)) -> Self {
        let centre_m = centre.coords.map(|c| c as f32).into();
        Self { link: *link, centre_m, radius_m: *radius_m as f32 }
    }
}

/// A small sphere around spheres: its centre goes toward the one that sticks out most, in ever
/// smaller steps.
fn sphere_around(spheres: &[(Point3<f64>, f64)]) -> (Point3<f64>, f64) {
    let Some((first, _)) = spheres.first() else { return (Point3::origin(), 0.0) };
    let mut centre = *first;
    let reach = |from: &Point3<f64>, (c, r): &(Point3<f64>, f64)| (c - from).norm() + r;
    let furthest = |from: &Point3<f64>| {
        let ordered = spheres.iter().max_by(|a, b| reach(from, a).total_cmp(&reach(from, b)));
        ordered.map_or((*first, 0.0), |sphere| (sphere.0, reach(from, sphere)))
    };
    let (mut best, mut best_m) = (centre, furthest(&centre).1);
    for step in 1..300 {
        let (far, _) = furthest(&centre);
        centre += (far - centre) / (f64::from(step) + 1.0);
        let reach_m = furthest(&centre).1;
        if reach_m < best_m {
            (best, best_m) = (centre, reach_m);
        }
    }
    (best, best_m + 1e-6)
}
