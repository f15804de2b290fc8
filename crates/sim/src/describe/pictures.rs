//! Pictures of what was guessed: the robot at rest, its hand open and closed, the tool's frame and
//! the wrist drawn in.

use std::path::Path;

use citrange_core::scene::{Camera, Fixture};
use citrange_core::shape::{Part, Shape};
use citrange_core::{DictObjectState, DictRobotState, DictState, Pose, Rates};
use citrange_render::Image;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use std::sync::Arc;

use super::Guess;
use super::hand::corners;
use crate::catalog::SceneSource;
use crate::chain::isometry;
use crate::compile::{Change, CompiledScene};
use crate::error::SimError;
use crate::robot::scene_of;
use crate::world::{Threads, World};

const NAME: &str = "robot";
/// Length and thickness of a drawn axis, beside the robot's size.
const AXIS: [f64; 2] = [0.09, 0.0035];
/// Red, green, blue: x, y, z of the tool; yellow: the wrist.
const COLOURS: [[f32; 4]; 4] =
    [[0.9, 0.1, 0.1, 1.0], [0.1, 0.75, 0.1, 1.0], [0.15, 0.3, 0.95, 1.0], [0.95, 0.8, 0.1, 1.0]];

impl Guess {
    /// Draws the model with this description; answers names and pictures.
    ///
    /// # Errors
    /// When the model with this description does not compile, or a picture cannot be made.
    pub fn pictures(&self, folder: &Path) -> Result<Vec<(String, Image)>, SimError> {
        let model = self.description.model.clone();
        let mut scene = scene_of(NAME, &model);
        scene.rates = Rates { physics_hz: 500, control_hz: 100, frame_hz: 20 };
        let mut source = SceneSource { scene, folder: folder.to_owned() };
        let change =
            Change { robot: NAME, description: Some(&self.description), ..Change::default() };
        let bare = Arc::new(CompiledScene::changed(&source, change)?);
        let world = World::new(Arc::clone(&bare), 1, Threads::Exactly(1))?;
        let data = world.data(0)?;
        let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(-f64::INFINITY));
        let bodies = bare.layout.robots[NAME].bodies.clone();
        for geom in 0..bare.model.ffi().ngeom as usize {
            if bodies.contains(&(bare.model.geom_bodyid()[geom] as usize)) {
                for corner in corners(data, geom) {
                    low = low.inf(&corner.coords);
                    high = high.sup(&corner.coords);
                }
            }
        }
        let (middle, size) = (Point3::from((low + high) / 2.0), (high - low).norm().max(0.05));
        let tool = frame(&bare, &world, "tool");
        let wrist = frame(&bare, &world, "wrist");
        let scene = &mut source.scene;
        for (name, from) in
            [("front", [0.9, 0.9, 0.5]), ("side", [0.0, -1.25, 0.25]), ("top", [0.05, 0.0, 1.4])]
        {
            scene.cameras.insert(name.to_owned(), camera(middle, Vector3::from(from) * size));
        }
        if let Some(tool) = &tool {
            let at = Point3::from(tool.translation.vector);
            let out = tool * (Vector3::new(0.2, 0.9, -0.2) * 0.35 * size);
            scene.cameras.insert("hand".to_owned(), camera(at, out));
            let parts = (0..3).map(|axis| bar(axis, size)).collect();
            scene.fixtures.insert(
                "tool_frame".to_owned(),
                Fixture {
                    pos_m: [0.0; 3],
                    yaw_deg: 0.0,
                    parts: placed(parts, tool),
                    keep_clear: false,
                },
            );
        }
        if let Some(wrist) = &wrist {
            let ball = part(Shape::Sphere { radius_m: 0.018 * size }, COLOURS[3]);
            scene.fixtures.insert(
                "wrist_frame".to_owned(),
                Fixture {
                    pos_m: [0.0; 3],
                    yaw_deg: 0.0,
                    parts: placed(vec![ball], wrist),
                    keep_clear: false,
                },
            );
        }
        let drawn = Arc::new(CompiledScene::changed(&source, change)?);
        let mut world = World::new(drawn, 1, Threads::Exactly(1))?;
        let mut pictures = Vec::new();
        for view in ["front", "side", "top"] {
            pictures.push((format!("home_{view}"), Image::colors(world.frame(0, view)?)));
        }
        if let (Some(gripper), Some(_)) = (&self.description.gripper, &tool) {
            for (word, positions) in [("open", &gripper.open), ("closed", &gripper.closed)] {
                let named = gripper.joints.iter().cloned().zip(positions.iter().copied());
                let object =
                    DictObjectState { dof_pos: Some(named.collect()), ..Default::default() };
                let robot = DictRobotState { object, ..Default::default() };
                let robots = [(NAME.to_owned(), robot)].into();
                world.set_dict_states(&[DictState { robots, ..Default::default() }], None)?;
                pictures.push((format!("hand_{word}"), Image::colors(world.frame(0, "hand")?)));
            }
        }
        Ok(pictures)
    }
}

fn frame(scene: &CompiledScene, world: &World, role: &str) -> Option<Isometry3<f64>> {
    let (body, pose) = scene.frame_at(NAME, role)?;
    let data = world.data(0).ok()?;
    Some(isometry(data.xpos()[body], data.xquat()[body]) * pose)
}

fn camera(at: Point3<f64>, from: Vector3<f64>) -> Camera {
    let mut from = at + from;
    from.z = from.z.max(0.02);
    Camera {
        mount: None,
        pos_m: from.coords.into(),
        quat_wxyz: None,
        look_at_m: Some(at.coords.into()),
        fovy_deg: 45.0,
        width_px: Camera::DEFAULT_WIDTH_PX,
        height_px: Camera::DEFAULT_HEIGHT_PX,
        near_m: Camera::DEFAULT_NEAR_M,
        far_m: Camera::DEFAULT_FAR_M,
    }
}

fn part(shape: Shape, rgba: [f32; 4]) -> Part {
    Part {
        shape,
        pos_m: [0.0; 3],
        quat_wxyz: [1.0, 0.0, 0.0, 0.0],
        mass_kg: 0.0,
        rgba,
        gloss: 0.3,
        collides: false,
        visible: true,
        friction: None,
        condim: None,
        solref: None,
        solimp: None,
        margin_m: None,
    }
}

/// One axis of a frame.
fn bar(axis: usize, size: f64) -> Part {
    let [length, thick] = AXIS.map(|n| n * size);
    let mut half_m = [thick; 3];
    half_m[axis] = length / 2.0;
    let mut made = part(Shape::Box { half_m }, COLOURS[axis]);
    made.pos_m[axis] = length / 2.0;
    made
}

/// Parts in a frame, as parts in the world.
fn placed(parts: Vec<Part>, world_from_frame: &Isometry3<f64>) -> Vec<Part> {
    let moved = |part: Part| {
        let own = Isometry3::from_parts(Translation3::from(part.pos_m), UnitQuaternion::identity());
        let pose: Pose = (world_from_frame * own).into();
        Part { pos_m: pose.pos_m, quat_wxyz: pose.quat_wxyz, ..part }
    };
    parts.into_iter().map(moved).collect()
}
