//! What is known beforehand of the things of a scene: the boxes around them and their shapes.

use std::collections::BTreeSet;

use citrange_core::rig::ConvexBody;
use citrange_core::{ObjectSpec, Pose};
use mujoco_rs::prelude::*;
use nalgebra::Point3;

use crate::compile::CompiledScene;
use crate::contact_sensor::free;
use crate::shapes::shapes;

/// Directions in which the outermost points of a mesh's hull are kept.
const DIRECTIONS: u32 = 160;

/// Objects of a scene that move as a whole, with what of them collides.
pub(crate) fn object_specs(scene: &CompiledScene) -> Vec<ObjectSpec> {
    let model = &scene.model;
    let spec = |(name, tree): (&String, &crate::layout::Tree)| {
        let body = tree.bodies.start;
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        let mut hulls = Vec::new();
        for geom in 0..model.ffi().ngeom as usize {
            let collides = model.geom_contype()[geom] != 0 || model.geom_conaffinity()[geom] != 0;
            if model.geom_bodyid()[geom] as usize != body || !collides {
                continue;
            }
            let pose = Pose { pos_m: model.geom_pos()[geom], quat_wxyz: model.geom_quat()[geom] };
            let pose = pose.isometry();
            let rot = pose.rotation.to_rotation_matrix();
            let [x, y, z, half_x, half_y, half_z] = model.geom_aabb()[geom];
            let middle = pose * Point3::new(x, y, z);
            let half = rot.matrix().abs() * nalgebra::Vector3::new(half_x, half_y, half_z);
            for axis in 0..3 {
                low[axis] = low[axis].min(middle[axis] - half[axis]);
                high[axis] = high[axis].max(middle[axis] + half[axis]);
            }
            if let Some(hull) = geom_hull(model, geom) {
                let at = |p: [f64; 3]| (pose * Point3::from(p)).coords.into();
                let points_m = hull.points_m.into_iter().map(at).collect();
                hulls.push(ConvexBody { points_m, radius_m: hull.radius_m });
            }
        }
        // Nothing of it can be touched: a point.
        let box_m = if low[0] <= high[0] { [low, high] } else { [[0.0; 3]; 2] };
        ObjectSpec { name: name.clone(), box_m, hulls }
    };
    free(scene).map(spec).collect()
}

/// The convex body that the engine collides with, in the frame of the geom.
fn geom_hull(model: &MjModel, geom: usize) -> Option<ConvexBody> {
    if model.geom_type()[geom] == MjtGeomBase::mjGEOM_MESH {
        let mesh = usize::try_from(model.geom_dataid()[geom]).ok()?;
        let first = model.mesh_vertadr()[mesh] as usize;
        let count = model.mesh_vertnum()[mesh] as usize;
        return Some(ConvexBody::of_points(outermost(&model.mesh_vert()[first..first + count])));
    }
    let (shape, geom_from_shape) = shapes(model, geom)?.pop()?;
    let hull = ConvexBody::of(&shape)?;
    let at = |p: [f64; 3]| (geom_from_shape * Point3::from(p)).coords.into();
    Some(ConvexBody {
        points_m: hull.points_m.into_iter().map(at).collect(),
        radius_m: hull.radius_m,
    })
}

/// The points that are outermost in some direction: the corners of the hull, or what stands for
/// them where there are very many.
fn outermost(points: &[[f32; 3]]) -> Vec<[f64; 3]> {
    // Directions spread evenly over the sphere, by the golden angle.
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let spread = (0..DIRECTIONS).map(|k| {
        let z = 1.0 - 2.0 * (f64::from(k) + 0.5) / f64::from(DIRECTIONS);
        let (sin, cos) = (golden * f64::from(k)).sin_cos();
        let out = (1.0 - z * z).sqrt();
        [out * cos, out * sin, z]
    });
    let axes = (0..6).map(|k| {
        std::array::from_fn(|a| if a == k / 2 { (k % 2) as f64 * 2.0 - 1.0 } else { 0.0 })
    });
    let mut kept = BTreeSet::new();
    for direction in spread.chain(axes) {
        let far = |p: &[f32; 3]| (0..3).map(|a| f64::from(p[a]) * direction[a]).sum::<f64>();
        let most = (0..points.len()).max_by(|a, b| far(&points[*a]).total_cmp(&far(&points[*b])));
        kept.extend(most);
    }
    kept.into_iter().map(|index| points[index].map(f64::from)).collect()
}
