//! Planning problems in a file: a start, a goal and what is in the way, for measurements.

use std::path::Path;
use std::sync::Arc;

use citrange_core::Pose;
use citrange_core::shape::{PosedShape, Shape};
use citrange_space::{Grid, MapSnapshot};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::error::PlanError;
use crate::obstacles::Obstacles;

/// Problems for one robot. A key that is not known is refused: what is in the way must not be
/// overlooked. `frame`, `note`, `rule` and `voxel_grid` are for people.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problems {
    /// Name of the robot.
    pub robot: String,
    /// The robot that stands at the world's origin, by its name or its file, where the file is for
    /// one: `ur5`, `panda`, `arm.urdf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names of the planned joints.
    pub joint_names: Vec<String>,
    /// Their ranges.
    pub joint_limits: Vec<[f64; 2]>,
    /// Edge of a voxel; the cell i reaches from i to i + 1 edges along each axis.
    #[serde(rename = "voxel_size")]
    pub voxel_size_m: f64,
    /// Where the cells of `voxel_runs` are, for files that have those.
    #[serde(default, skip_serializing)]
    voxel_runs: Option<RunGrid>,
    #[serde(default, skip_serializing, rename = "frame")]
    _frame: IgnoredAny,
    #[serde(default, skip_serializing, rename = "note")]
    _note: IgnoredAny,
    #[serde(default, skip_serializing, rename = "voxel_grid")]
    _voxel_grid: IgnoredAny,
    /// The problems.
    pub problems: Vec<Problem>,
}

/// A start, a goal, and what is in the way, as solids and as voxels.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Its name.
    pub name: String,
    /// What kind of problem it is.
    #[serde(rename = "cls")]
    pub kind: String,
    /// Joints at the start.
    pub start: Vec<f64>,
    /// Joints at the goal.
    pub goal: Vec<f64>,
    #[serde(default)]
    boxes: Vec<BoxInFile>,
    #[serde(default)]
    spheres: Vec<SphereInFile>,
    #[serde(default)]
    capsules: Vec<CapsuleInFile>,
    #[serde(default)]
    cylinders: Vec<CylinderInFile>,
    /// Free cells, occupied cells, free cells, and so on: the short form of `voxels`.
    #[serde(default, skip_serializing)]
    voxel_runs: Vec<usize>,
    /// Middles of the voxels, where the file has them.
    #[serde(default, rename = "voxels", skip_serializing_if = "Vec::is_empty")]
    pub voxels_m: Vec<[f64; 3]>,
    /// Whether start and goal are free among the solids.
    pub valid_primitives: bool,
    /// Whether they are free among the voxels.
    #[serde(default)]
    pub valid_voxels: bool,
    /// Whether any planner solves it, where that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solvable: Option<bool>,
    /// How hard it was made, from 0 to 1, where it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<f64>,
    /// Of a form that is not read here: spheres instead of voxels.
    #[serde(default, skip_serializing, rename = "valid_voxel_spheres")]
    _valid_voxel_spheres: IgnoredAny,
    #[serde(default, skip_serializing, rename = "note")]
    _note: IgnoredAny,
}

/// The cells that runs count through: x fastest, then y, then z.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunGrid {
    /// Number of the first cell along each axis.
    lower: [i32; 3],
    /// Cells along each axis.
    count: [usize; 3],
    #[serde(default, rename = "rule")]
    _rule: IgnoredAny,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoxInFile {
    center: [f64; 3],
    quat_xyzw: [f64; 4],
    half: [f64; 3],
    /// The turn once more.
    #[serde(default, skip_serializing, rename = "euler_xyz")]
    _euler: IgnoredAny,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SphereInFile {
    center: [f64; 3],
    radius: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CapsuleInFile {
    a: [f64; 3],
    b: [f64; 3],
    radius: f64,
    /// Where it is once more, in another way.
    #[serde(default, skip_serializing, rename = "center")]
    _center: IgnoredAny,
    #[serde(default, skip_serializing, rename = "euler_xyz")]
    _euler: IgnoredAny,
    #[serde(default, skip_serializing, rename = "length")]
    _length: IgnoredAny,
}

/// A cylinder along its z axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CylinderInFile {
    center: [f64; 3],
    quat_xyzw: [f64; 4],
    radius: f64,
    half_height: f64,
}

impl Problems {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is not a file of problems.
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        let bad = |error: &dyn std::fmt::Display| {
            PlanError::bad(format!("problems in {}", path.display()), error.to_string())
        };
        let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
        let mut problems: Self = serde_json::from_str(&text).map_err(|error| bad(&error))?;
        let joints = problems.joint_limits.len();
        let grid = problems.voxel_runs;
        for problem in &mut problems.problems {
            if problem.start.len() != joints || problem.goal.len() != joints {
                let reason = format!("{}: start and goal need {joints} joints", problem.name);
                return Err(bad(&reason));
            }
            if !problem.voxel_runs.is_empty() {
                let unpacked = grid.and_then(|g| g.unpack(&problem.voxel_runs));
                let unpacked = unpacked.ok_or_else(|| {
                    bad(&format!("{}: voxel_runs that leave the file's grid", problem.name))
                })?;
                let middle = |i: i32| (f64::from(i) + 0.5) * problems.voxel_size_m;
                problem.voxels_m = unpacked.into_iter().map(|cell| cell.map(middle)).collect();
            }
        }
        Ok(problems)
    }
}

impl Problems {
    /// Problems for the robot of a model.
    pub(crate) fn of(
        model: &str,
        joint_names: Vec<String>,
        joint_limits: Vec<[f64; 2]>,
        voxel_size_m: f64,
        problems: Vec<Problem>,
    ) -> Self {
        Self {
            robot: model.to_owned(),
            model: Some(model.to_owned()),
            joint_names,
            joint_limits,
            voxel_size_m,
            voxel_runs: None,
            _frame: IgnoredAny,
            _note: IgnoredAny,
            _voxel_grid: IgnoredAny,
            problems,
        }
    }
}

impl RunGrid {
    /// Occupied cells of runs; `None` when they are not of this grid.
    fn unpack(&self, runs: &[usize]) -> Option<Vec<[i32; 3]>> {
        let [nx, ny, nz] = self.count;
        let cells = nx.checked_mul(ny)?.checked_mul(nz)?;
        let mut occupied = Vec::new();
        let mut next = 0_usize;
        for (index, run) in runs.iter().enumerate() {
            let end = next.checked_add(*run).filter(|end| *end <= cells)?;
            if index % 2 == 1 {
                occupied.extend((next..end).map(|key| {
                    let cell = [key % nx, key / nx % ny, key / (nx * ny)];
                    std::array::from_fn(|axis| self.lower[axis] + cell[axis] as i32)
                }));
            }
            next = end;
        }
        Some(occupied)
    }
}

impl Problem {
    /// A start and a goal among solids, both free. Solids that files of problems cannot say are
    /// refused.
    pub(crate) fn among(
        name: String,
        kind: &str,
        [start, goal]: [Vec<f64>; 2],
        solids: &[PosedShape],
    ) -> Result<Self, PlanError> {
        let mut made = Self {
            name,
            kind: kind.to_owned(),
            start,
            goal,
            boxes: Vec::new(),
            spheres: Vec::new(),
            capsules: Vec::new(),
            cylinders: Vec::new(),
            voxel_runs: Vec::new(),
            voxels_m: Vec::new(),
            valid_primitives: true,
            valid_voxels: false,
            solvable: None,
            difficulty: None,
            _valid_voxel_spheres: IgnoredAny,
            _note: IgnoredAny,
        };
        for PosedShape { pose, shape } in solids {
            let (center, [w, x, y, z]) = (pose.pos_m, pose.quat_wxyz);
            let quat_xyzw = [x, y, z, w];
            match *shape {
                Shape::Box { half_m } => {
                    let _euler = IgnoredAny;
                    made.boxes.push(BoxInFile { center, quat_xyzw, half: half_m, _euler });
                }
                Shape::Sphere { radius_m } => {
                    made.spheres.push(SphereInFile { center, radius: radius_m });
                }
                Shape::Cylinder { radius_m: radius, half_height_m: half_height } => {
                    made.cylinders.push(CylinderInFile { center, quat_xyzw, radius, half_height });
                }
                Shape::Capsule { radius_m: radius, half_height_m } => {
                    let end = |z: f64| pose.isometry() * nalgebra::Point3::new(0.0, 0.0, z);
                    let [a, b] = [-half_height_m, half_height_m].map(|z| end(z).coords.into());
                    let (_center, _euler, _length) = (IgnoredAny, IgnoredAny, IgnoredAny);
                    made.capsules.push(CapsuleInFile { a, b, radius, _center, _euler, _length });
                }
                ref other => {
                    let what = format!("problem {}", made.name);
                    return Err(PlanError::Bad {
                        what,
                        reason: format!("a {} cannot be written into its file", other.name()),
                    });
                }
            }
        }
        Ok(made)
    }

    /// The same with how hard it was made, and whether it was solved.
    pub(crate) fn labelled(mut self, difficulty: f64, solvable: bool) -> Self {
        (self.difficulty, self.solvable) = (Some(difficulty), Some(solvable));
        self
    }

    /// What is in the way as solids.
    #[must_use]
    pub fn solids(&self) -> Obstacles {
        let wxyz = |[x, y, z, w]: [f64; 4]| [w, x, y, z];
        let boxes =
            self.boxes.iter().map(|b| PosedShape::cuboid(b.center, wxyz(b.quat_xyzw), b.half));
        let spheres = self.spheres.iter().map(|s| PosedShape::sphere(s.center, s.radius));
        let capsules = self.capsules.iter().map(|c| PosedShape::capsule(c.a, c.b, c.radius));
        let cylinders = self.cylinders.iter().map(|c| {
            let pose = Pose { pos_m: c.center, quat_wxyz: wxyz(c.quat_xyzw) };
            PosedShape::cylinder(pose, c.radius, c.half_height)
        });
        Obstacles::of(boxes.chain(spheres).chain(capsules).chain(cylinders).collect())
    }

    /// What is in the way as cubes of a map that is `reach_m` larger than what it holds.
    ///
    /// # Errors
    /// When there are no voxels, or they are not a map's.
    pub fn cubes(&self, voxel_size_m: f64, reach_m: f64) -> Result<Obstacles, PlanError> {
        let what = || format!("voxels of {}", self.name);
        if self.voxels_m.is_empty() {
            return Err(PlanError::bad(what(), "none in the file: ask for its solids"));
        }
        let (mut lower_m, mut upper_m) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for voxel_m in &self.voxels_m {
            for axis in 0..3 {
                lower_m[axis] = lower_m[axis].min(voxel_m[axis]);
                upper_m[axis] = upper_m[axis].max(voxel_m[axis]);
            }
        }
        // Corners of the grid are corners of cells.
        let corner = |at_m: f64| (at_m / voxel_size_m).floor() * voxel_size_m;
        let lower_m = lower_m.map(|low| corner(low - reach_m));
        let upper_m = upper_m.map(|high| corner(high + reach_m) + voxel_size_m);
        let grid = Grid::new(lower_m, upper_m, voxel_size_m)?;
        let keys: Option<Vec<u32>> =
            self.voxels_m.iter().map(|at| grid.cell(*at).map(|cell| grid.key(cell))).collect();
        let keys = keys.ok_or_else(|| PlanError::bad(what(), "a voxel that is no number"))?;
        let map = MapSnapshot::from_voxels_within(&grid, &keys, reach_m)?;
        Ok(Obstacles { map: Some(Arc::new(map)), ..Obstacles::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::shape::Shape;

    const FILE: &str = r#"{"robot": "r", "joint_names": ["a"], "joint_limits": [[-1, 1]],
        "voxel_size": 0.05, "note": "n", "problems": [{"name": "p", "cls": "c", "start": [0.5],
        "goal": [-0.5], "boxes": [{"center": [1, 2, 3], "quat_xyzw": [0.1, 0.2, 0.3, 0.9],
        "half": [4, 5, 6]}], "spheres": [{"center": [1, 2, 3], "radius": 4}],
        "capsules": [{"a": [1, 2, 3], "b": [4, 5, 6], "radius": 7}],
        "voxels": [[0.025, -0.725, 1.525], [0.375, 0.775, 1.525]], "valid_primitives": true}]}"#;

    fn read(text: &str) -> Result<Problems, PlanError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("problems.json");
        std::fs::write(&path, text).unwrap();
        Problems::read(&path)
    }

    #[test]
    fn a_file_becomes_solids_and_cubes() {
        let problems = read(FILE).unwrap();
        let problem = &problems.problems[0];
        let solids = problem.solids();
        let [cuboid, sphere, capsule] = &solids.solids[..] else { panic!("{solids:?}") };
        assert_eq!(cuboid.pose.quat_wxyz, [0.9, 0.1, 0.2, 0.3]);
        assert_eq!(sphere, &PosedShape::sphere([1.0, 2.0, 3.0], 4.0));
        assert_eq!(capsule, &PosedShape::capsule([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], 7.0));
        let map = problem.cubes(0.05, 0.3).unwrap().map.unwrap();
        let grid = map.grid();
        let mut middles: Vec<[f64; 3]> =
            map.voxels().iter().map(|v| grid.centre_m(grid.cell_of(v.key))).collect();
        middles.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(middles.len(), 2);
        for (middle, expected) in middles.iter().zip(&problem.voxels_m) {
            for axis in 0..3 {
                assert!((middle[axis] - expected[axis]).abs() < 1e-9, "{middles:?}");
            }
        }
    }

    #[test]
    fn runs_are_voxels_too() {
        let runs = FILE
            .replace(
                "\"note\"",
                "\"voxel_runs\": {\"lower\": [-1, 0, 5], \"count\": [2, 2, 2]}, \"note\"",
            )
            .replace(
                "\"voxels\": [[0.025, -0.725, 1.525], [0.375, 0.775, 1.525]]",
                "\"voxel_runs\": [1, 2, 4, 1]",
            );
        let problems = read(&runs).unwrap();
        let expected = [[0.025, 0.025, 0.275], [-0.025, 0.075, 0.275], [0.025, 0.075, 0.325]];
        let found = &problems.problems[0].voxels_m;
        assert_eq!(found.len(), 3);
        for (at, expected) in found.iter().zip(&expected) {
            assert!((0..3).all(|a| (at[a] - expected[a]).abs() < 1e-9), "{found:?}");
        }
        let beyond = runs.replace("[1, 2, 4, 1]", "[1, 2, 4, 2]");
        assert!(read(&beyond).unwrap_err().to_string().contains("leave the file's grid"));
    }

    #[test]
    fn cylinders_are_cylinders_and_no_key_is_passed_over() {
        let cylinder = r#"{"center": [1, 2, 3], "quat_xyzw": [0, 0, 0, 1], "radius": 0.1,
            "half_height": 0.5}"#;
        let with = |key: &str, value: &str| {
            FILE.replace("\"spheres\"", &format!("\"{key}\": {value}, \"spheres\""))
        };
        let problems = read(&with("cylinders", &format!("[{cylinder}]"))).unwrap();
        let solids = problems.problems[0].solids().solids;
        let shape = Shape::Cylinder { radius_m: 0.1, half_height_m: 0.5 };
        assert_eq!(solids.last().map(|s| &s.shape), Some(&shape));
        for text in [
            with("meshes", "[]"),
            FILE.replace("\"half\"", "\"rounding\": 0.1, \"half\""),
            FILE.replace("\"note\"", "\"walls\": [], \"note\""),
            with("cylinders", &format!("[{}]", cylinder.replace("radius", "radii"))),
        ] {
            assert!(read(&text).unwrap_err().to_string().contains("unknown field"), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = read(&FILE.replace("\"start\": [0.5]", "\"start\": []")).unwrap_err();
        assert!(wrong.to_string().contains("need 1 joints"), "{wrong}");
        assert!(read("{}").unwrap_err().to_string().contains("robot"));
        assert!(Problems::read(Path::new("nowhere.json")).is_err());
        let empty = FILE.replace("[[0.025, -0.725, 1.525], [0.375, 0.775, 1.525]]", "[]");
        assert!(read(&empty).unwrap().problems[0].cubes(0.05, 0.3).is_err());
    }
}
