//! Triangles that fit together.

use std::sync::OnceLock;

use super::Hull;

/// Largest coordinate of a vertex.
const MAX_COORDINATE_M: f32 = 1e6;

/// Why numbers are no mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("mesh: {0}")]
pub struct MeshError(String);

/// A validated triangle mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    positions_m: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    normals: Option<Vec<[[f32; 3]; 3]>>,
    uvs: Option<Vec<[[f32; 2]; 3]>>,
    centre_m: [f64; 3],
    half_m: [f64; 3],
    hull: MadeOnce,
}

/// The hull, made when it is first asked for; it follows from the vertices, so it is not compared.
#[derive(Clone, Debug, Default)]
struct MadeOnce(OnceLock<Hull>);

impl PartialEq for MadeOnce {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Mesh {
    /// A mesh with flat faces from vertex positions in metres and counter-clockwise triangles.
    ///
    /// # Errors
    /// When there is nothing, a coordinate is not finite or beyond 1e6 m, or a triangle names a
    /// vertex that is not there.
    pub fn new(positions_m: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        if positions_m.is_empty() || triangles.is_empty() {
            return Err(MeshError("needs at least one vertex and one triangle".into()));
        }
        for (i, p) in positions_m.iter().enumerate() {
            if !p.iter().all(|v| v.abs() <= MAX_COORDINATE_M) {
                return Err(MeshError(format!(
                    "vertex {i} is {p:?}; coordinates must be finite, at most 1e6 m"
                )));
            }
        }
        for (i, t) in triangles.iter().enumerate() {
            if t.iter().any(|v| *v as usize >= positions_m.len()) {
                let n = positions_m.len();
                return Err(MeshError(format!(
                    "triangle {i} is {t:?}, but there are {n} vertices"
                )));
            }
        }
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for p in &positions_m {
            for k in 0..3 {
                low[k] = low[k].min(f64::from(p[k]));
                high[k] = high[k].max(f64::from(p[k]));
            }
        }
        let centre_m = std::array::from_fn(|k| 0.5 * (low[k] + high[k]));
        let half_m = std::array::from_fn(|k| 0.5 * (high[k] - low[k]));
        let hull = MadeOnce::default();
        Ok(Self { positions_m, triangles, normals: None, uvs: None, centre_m, half_m, hull })
    }

    /// Adds one normal per triangle corner, for smooth shading. Any length; zero means flat.
    ///
    /// # Errors
    /// When there are too few or too many, or one is not finite.
    pub fn with_normals(mut self, normals: Vec<[[f32; 3]; 3]>) -> Result<Self, MeshError> {
        self.check_corners("normals", normals.len(), normals.as_flattened().as_flattened())?;
        self.normals = Some(normals);
        Ok(self)
    }

    /// Adds one texture coordinate per triangle corner; without them the mapping is planar.
    ///
    /// # Errors
    /// When there are too few or too many, or one is not finite.
    pub fn with_uvs(mut self, uvs: Vec<[[f32; 2]; 3]>) -> Result<Self, MeshError> {
        self.check_corners("uvs", uvs.len(), uvs.as_flattened().as_flattened())?;
        self.uvs = Some(uvs);
        Ok(self)
    }

    fn check_corners(&self, what: &str, len: usize, values: &[f32]) -> Result<(), MeshError> {
        let want = self.triangles.len();
        if len != want {
            return Err(MeshError(format!("{what} for {len} triangles, but there are {want}")));
        }
        match values.iter().position(|v| v.abs() > 1e6 || v.is_nan()) {
            Some(i) => Err(MeshError(format!("{what}: value {i} is not finite, or beyond 1e6"))),
            None => Ok(()),
        }
    }

    /// Vertex positions.
    #[must_use]
    pub fn positions_m(&self) -> &[[f32; 3]] {
        &self.positions_m
    }

    /// Vertex indices of each triangle.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Corners of each triangle.
    pub fn corners_m(&self) -> impl ExactSizeIterator<Item = [[f32; 3]; 3]> + '_ {
        self.triangles.iter().map(|t| t.map(|vertex| self.positions_m[vertex as usize]))
    }

    /// Normals of each triangle's corners, where it has them.
    #[must_use]
    pub fn normals(&self) -> Option<&[[[f32; 3]; 3]]> {
        self.normals.as_deref()
    }

    /// Texture coordinates of each triangle's corners, where it has them.
    #[must_use]
    pub fn uvs(&self) -> Option<&[[[f32; 2]; 3]]> {
        self.uvs.as_deref()
    }

    /// Centre and half extents of the box around it.
    #[must_use]
    pub fn bounds_m(&self) -> ([f64; 3], [f64; 3]) {
        (self.centre_m, self.half_m)
    }

    /// Its convex hull, made once: for thousands of vertices that takes milliseconds.
    pub fn hull(&self) -> &Hull {
        self.hull.0.get_or_init(|| {
            let points: Vec<_> = self.positions_m.iter().map(|p| p.map(f64::from)).collect();
            Hull::of(&points)
        })
    }
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
