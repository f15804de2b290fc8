//! The shapes a scene is made of, each in its own frame and in metres.

use std::sync::Arc;

use crate::error::RenderError;
use crate::math::Vec3;

/// Smallest size of a shape.
pub const MIN_SIZE_M: f64 = 1e-6;
/// Largest size of a shape, and largest coordinate of a pose.
pub const MAX_SIZE_M: f64 = 1e6;

/// A surface, seen from outside only: from within, nothing of it is drawn.
#[derive(Debug, Clone)]
pub enum Shape {
    /// The XY plane, seen from the +Z side only. It receives shadows but casts none.
    Plane {
        /// Half extents along X and Y; `None` reaches to the horizon.
        half_m: [Option<f64>; 2],
    },
    /// A ball around the origin.
    Sphere {
        /// Radius.
        radius_m: f64,
    },
    /// A cylinder along Z with a half ball on both ends.
    Capsule {
        /// Radius.
        radius_m: f64,
        /// Half the length of the cylindric part.
        half_length_m: f64,
    },
    /// A closed cylinder along Z.
    Cylinder {
        /// Radius.
        radius_m: f64,
        /// Half the length.
        half_length_m: f64,
    },
    /// An ellipsoid around the origin.
    Ellipsoid {
        /// Radii along X, Y and Z.
        radii_m: [f64; 3],
    },
    /// A box around the origin.
    Box {
        /// Half extents along X, Y and Z.
        half_m: [f64; 3],
    },
    /// Triangles, seen from the side from which they run counter-clockwise.
    Mesh(Arc<Mesh>),
}

impl Shape {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Shape::Plane { .. } => "plane",
            Shape::Sphere { .. } => "sphere",
            Shape::Capsule { .. } => "capsule",
            Shape::Cylinder { .. } => "cylinder",
            Shape::Ellipsoid { .. } => "ellipsoid",
            Shape::Box { .. } => "box",
            Shape::Mesh(_) => "mesh",
        }
    }

    pub(crate) fn sizes_are_valid(&self) -> bool {
        // A range holds no NaN.
        let ok = |v: f64| (MIN_SIZE_M..=MAX_SIZE_M).contains(&v);
        match self {
            Shape::Plane { half_m } => half_m.iter().flatten().all(|v| ok(*v)),
            Shape::Sphere { radius_m } => ok(*radius_m),
            Shape::Capsule { radius_m, half_length_m } => {
                ok(*radius_m) && (*half_length_m == 0.0 || ok(*half_length_m))
            }
            Shape::Cylinder { radius_m, half_length_m } => ok(*radius_m) && ok(*half_length_m),
            Shape::Ellipsoid { radii_m } => radii_m.iter().all(|v| ok(*v)),
            Shape::Box { half_m } => half_m.iter().all(|v| ok(*v)),
            Shape::Mesh(_) => true,
        }
    }

    /// Centre and half extents of the axis-aligned box around the shape; `None` when infinite.
    pub(crate) fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let origin = [0.0; 3];
        match self {
            Shape::Plane { half_m: [Some(x), Some(y)] } => Some((origin, [*x, *y, 0.0])),
            Shape::Plane { .. } => None,
            Shape::Sphere { radius_m: r } => Some((origin, [*r; 3])),
            Shape::Capsule { radius_m: r, half_length_m: h } => Some((origin, [*r, *r, h + r])),
            Shape::Cylinder { radius_m: r, half_length_m: h } => Some((origin, [*r, *r, *h])),
            Shape::Ellipsoid { radii_m } => Some((origin, *radii_m)),
            Shape::Box { half_m } => Some((origin, *half_m)),
            Shape::Mesh(mesh) => Some((mesh.centre, mesh.half)),
        }
    }
}

/// A validated triangle mesh.
#[derive(Debug, Clone)]
pub struct Mesh {
    positions: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    normals: Option<Vec<[[f32; 3]; 3]>>,
    uvs: Option<Vec<[[f32; 2]; 3]>>,
    centre: Vec3,
    half: Vec3,
}

impl Mesh {
    /// A mesh with flat faces from vertex positions in metres and counter-clockwise triangles.
    pub fn new(positions: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self, RenderError> {
        if positions.is_empty() || triangles.is_empty() {
            return Err(bad("needs at least one vertex and one triangle".into()));
        }
        let limit = MAX_SIZE_M as f32;
        for (i, p) in positions.iter().enumerate() {
            if !p.iter().all(|v| v.abs() <= limit) {
                return Err(bad(format!(
                    "vertex {i} is {p:?}; coordinates must be finite, at most 1e6 m"
                )));
            }
        }
        for (i, t) in triangles.iter().enumerate() {
            if t.iter().any(|v| *v as usize >= positions.len()) {
                let n = positions.len();
                return Err(bad(format!("triangle {i} is {t:?}, but there are {n} vertices")));
            }
        }
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for p in &positions {
            for k in 0..3 {
                low[k] = low[k].min(f64::from(p[k]));
                high[k] = high[k].max(f64::from(p[k]));
            }
        }
        let centre = std::array::from_fn(|k| 0.5 * (low[k] + high[k]));
        let half = std::array::from_fn(|k| 0.5 * (high[k] - low[k]));
        Ok(Self { positions, triangles, normals: None, uvs: None, centre, half })
    }

    /// Adds one normal per triangle corner, for smooth shading. Any length; zero means flat.
    pub fn with_normals(mut self, normals: Vec<[[f32; 3]; 3]>) -> Result<Self, RenderError> {
        self.check_corners("normals", normals.len(), normals.as_flattened().as_flattened())?;
        self.normals = Some(normals);
        Ok(self)
    }

    /// Adds one texture coordinate per triangle corner; without them the mapping is planar.
    pub fn with_uvs(mut self, uvs: Vec<[[f32; 2]; 3]>) -> Result<Self, RenderError> {
        self.check_corners("uvs", uvs.len(), uvs.as_flattened().as_flattened())?;
        self.uvs = Some(uvs);
        Ok(self)
    }

    fn check_corners(&self, what: &str, len: usize, values: &[f32]) -> Result<(), RenderError> {
        let want = self.triangles.len();
        if len != want {
            return Err(bad(format!("{what} for {len} triangles, but there are {want}")));
        }
        match values.iter().position(|v| v.abs() > 1e6 || v.is_nan()) {
            Some(i) => Err(bad(format!("{what}: value {i} is not finite, or beyond 1e6"))),
            None => Ok(()),
        }
    }

    /// Vertex positions in metres.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// Vertex indices of each triangle.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    pub(crate) fn normals(&self) -> Option<&[[[f32; 3]; 3]]> {
        self.normals.as_deref()
    }

    pub(crate) fn uvs(&self) -> Option<&[[[f32; 2]; 3]]> {
        self.uvs.as_deref()
    }
}

fn bad(what: String) -> RenderError {
    RenderError::BadMesh { what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_checks_its_numbers() {
        let corner = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert!(Mesh::new(corner.clone(), vec![[0, 1, 2]]).is_ok());
        let text = Mesh::new(corner.clone(), vec![[0, 1, 3]]).unwrap_err().to_string();
        assert!(text.contains("triangle 0") && text.contains("3 vertices"), "{text}");
        assert!(Mesh::new(corner.clone(), vec![]).is_err());
        assert!(Mesh::new(vec![[f32::NAN, 0.0, 0.0]; 3], vec![[0, 1, 2]]).is_err());
        let mesh = Mesh::new(corner, vec![[0, 1, 2]]).unwrap();
        assert!(mesh.clone().with_normals(vec![]).is_err());
        assert!(mesh.with_uvs(vec![[[0.0, f32::INFINITY]; 3]]).is_err());
    }
}
