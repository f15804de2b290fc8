//! What stands in the way, in a file of its own: fixtures as scenes have them, and meshes.

mod mesh_file;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use citrange_core::Pose;
use citrange_core::scene::Fixture;
use citrange_core::shape::{PosedShape, Shape};
use citrange_core::yaml::from_yaml;
use serde::{Deserialize, Serialize};

use crate::error::PlanError;
use crate::scene::SceneSolid;

/// A file of obstacles: metres, degrees, quaternions w, x, y, z. What has `collides: false` is
/// not in the way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorldFile {
    /// Things by name, as in a scene.
    pub fixtures: BTreeMap<String, Fixture>,
    /// Meshes by name, of files beside this one. Each counts as its convex hull: a cup is filled.
    pub meshes: BTreeMap<String, MeshThing>,
}

/// A mesh somewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshThing {
    /// An STL or OBJ file, seen from the file that names it.
    pub file: String,
    /// Where its origin is.
    #[serde(default)]
    pub pos_m: [f64; 3],
    /// Its orientation, w, x, y, z.
    #[serde(default = "unturned")]
    pub quat_wxyz: [f64; 4],
    /// Metres per unit of the file: 0.001 for millimetres.
    #[serde(default = "one")]
    pub scale: f64,
}

fn unturned() -> [f64; 4] {
    [1.0, 0.0, 0.0, 0.0]
}

fn one() -> f64 {
    1.0
}

impl WorldFile {
    /// Reads a file; what it says as solids, each with the name of its thing.
    ///
    /// # Errors
    /// When it cannot be read, or something in it is not as it should be: with its line and key.
    pub fn load(path: &Path) -> Result<Vec<SceneSolid>, PlanError> {
        let name = path.display().to_string();
        let bad = |reason: String| PlanError::Bad { what: name.clone(), reason };
        let text = std::fs::read_to_string(path)
            .map_err(|error| bad(format!("cannot be read: {error}")))?;
        let world: Self = from_yaml(&text, &name).map_err(|error| PlanError::Bad {
            what: "obstacles".to_owned(),
            reason: error.to_string(),
        })?;
        world.solids(path.parent().unwrap_or(Path::new(""))).map_err(bad)
    }

    /// What it says, with files that are seen from a folder.
    fn solids(&self, folder: &Path) -> Result<Vec<SceneSolid>, String> {
        let mut solids = Vec::new();
        let mut add = |name: &str, pose: Pose, shape: Shape| {
            let numbers = pose.pos_m.iter().chain(&pose.quat_wxyz);
            if !numbers.chain(&shape.sizes_m().collect::<Vec<_>>()).all(|n| n.is_finite()) {
                return Err(format!("{name}: every number must be finite"));
            }
            let solid = PosedShape { pose, shape };
            solids.push(SceneSolid { name: name.to_owned(), can_move: false, solid });
            Ok(())
        };
        for (name, thing) in &self.fixtures {
            let thing_at = Pose::from_yaw(thing.pos_m, thing.yaw_deg.to_radians()).isometry();
            for (number, part) in thing.parts.iter().enumerate() {
                part.check().map_err(|why| format!("fixtures.{name}.parts[{number}]: {why}"))?;
                if part.collides {
                    let part_at = Pose { pos_m: part.pos_m, quat_wxyz: part.quat_wxyz };
                    add(name, (thing_at * part_at.isometry()).into(), part.shape.clone())?;
                }
            }
        }
        for (name, thing) in &self.meshes {
            let at = |why: &dyn std::fmt::Display| format!("meshes.{name}: {why}");
            if !(thing.scale.is_finite() && thing.scale > 0.0) {
                let scale = thing.scale;
                return Err(at(&format!("scale is {scale}, must be above 0, such as 0.001")));
            }
            if thing.quat_wxyz.iter().all(|c| *c == 0.0) {
                return Err(at(&"quat_wxyz must not be all zero"));
            }
            let file = folder.join(&thing.file);
            let mesh = mesh_file::read(&file, thing.scale)
                .map_err(|why| at(&format!("{}: {why}", file.display())))?;
            let pose = Pose { pos_m: thing.pos_m, quat_wxyz: thing.quat_wxyz };
            add(name, pose, Shape::Mesh(Arc::new(mesh)))?;
        }
        Ok(solids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Vec<SceneSolid>, String> {
        let folder = tempfile::tempdir().unwrap();
        let stl = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 100 0 0\n\
                   vertex 0 100 0\nendloop\nendfacet\nendsolid\n";
        std::fs::write(folder.path().join("plate.stl"), stl).unwrap();
        let path = folder.path().join("world.yaml");
        std::fs::write(&path, text).unwrap();
        WorldFile::load(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn things_are_where_they_are_said_to_be() {
        let solids = load(
            "fixtures:\n  crate:\n    pos_m: [1, 2, 0]\n    yaw_deg: 90\n    parts:\n\
             \x20     - {shape: {box: {half_m: [0.1, 0.2, 0.3]}}, pos_m: [0.5, 0, 0.3]}\n\
             \x20     - {shape: {sphere: {radius_m: 0.1}}, collides: false}\n\
             meshes:\n  plate: {file: plate.stl, scale: 0.001, pos_m: [0, 0, 1]}\n",
        )
        .unwrap();
        assert_eq!(solids.len(), 2);
        let [x, y, z] = solids[0].solid.pose.pos_m;
        assert!((x - 1.0).abs() < 1e-12 && (y - 2.5).abs() < 1e-12 && (z - 0.3).abs() < 1e-12);
        let (_, half_m) = solids[1].solid.shape.bounds_m().unwrap();
        assert!((half_m[0] - 0.05).abs() < 1e-6, "{half_m:?}");
        assert_eq!(solids[1].name, "plate");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let wrong = |text: &str, part: &str| {
            let error = load(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        let thing = |rest: &str| format!("fixtures:\n  a:\n    parts:\n      - {rest}\n");
        wrong(&thing("{shape: {box: {half: [1, 1, 1]}}}"), "world.yaml:4");
        wrong(&thing("{shape: {cylnder: {radius_m: 1, half_height_m: 1}}}"), "cylinder");
        wrong(&thing("{shape: {sphere: {radius_m: 0}}}"), "above 0");
        wrong(&thing("{shape: {sphere: {radius_m: .nan}}}"), "");
        wrong("fixture: {}", "fixtures");
        wrong("meshes: {m: {file: no.stl}}", "no.stl");
        wrong("meshes: {m: {file: plate.stl, scale: 0}}", "above 0");
        assert!(WorldFile::load(Path::new("nowhere.yaml")).is_err());
    }
}
