//! Scenes: what stands where, as people write it in YAML. Metres, degrees, seconds, kilograms;
//! the unit is part of every key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pose::{Pose, look_at};
use crate::rates::Rates;
use crate::robot::PerJoint;
use crate::shape::{Footprint, Part};

/// A scene file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Short name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The task in words, as it is stored with recorded episodes.
    #[serde(default)]
    pub task: String,
    /// Clocks.
    pub rates: Rates,
    /// Engine options.
    #[serde(default)]
    pub physics: Physics,
    /// Floor, sky and lights.
    #[serde(default)]
    pub look: Appearance,
    /// Robots by name: `robot0`, `robot1`, …
    #[serde(default)]
    pub robots: BTreeMap<String, RobotPlacement>,
    /// Things that never move and are no part of the State: tables, walls.
    #[serde(default)]
    pub fixtures: BTreeMap<String, Fixture>,
    /// Things that move and are part of the State.
    #[serde(default)]
    pub objects: BTreeMap<String, Object>,
    /// Cameras by name.
    #[serde(default)]
    pub cameras: BTreeMap<String, Camera>,
    /// What an autopilot has to do here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// Root bodies of robots and objects, by name, where the whole model is somebody else's: the
    /// own model of a recording. Never in a scene file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roots: BTreeMap<String, String>,
}

/// Work for an autopilot: bring things to a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Objects to bring, in this order; the keys 1 to 9 call them.
    pub targets: Vec<String>,
    /// Where they have to go.
    pub goal: Goal,
    /// Numbers of the autopilot: a built-in profile's name or a YAML file; `default` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

/// Where things have to go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Goal {
    /// Beside each other onto an object with a round flat inside.
    Plate {
        /// The object.
        object: String,
        /// Radius of its inside.
        radius_m: f64,
        /// Height of the inside above the object's origin.
        surface_m: f64,
    },
    /// Beside each other onto a disc where nothing stands.
    VirtualPlate {
        /// Its middle, on the surface.
        center_m: [f64; 3],
        /// Its radius.
        radius_m: f64,
    },
    /// Beside each other into an object with a rectangular flat inside: a tray, a box.
    Tray {
        /// The object.
        object: String,
        /// Half the sides of its inside, along its own X and Y.
        half_m: [f64; 2],
        /// Height of the inside above the object's origin.
        surface_m: f64,
        /// Height of its walls above that.
        #[serde(default)]
        wall_m: f64,
    },
    /// Beside each other into a rectangle that is no object that moves: a marked place, a box or
    /// a shelf among the fixtures.
    VirtualTray {
        /// Its middle, on the surface.
        center_m: [f64; 3],
        /// Half its sides.
        half_m: [f64; 2],
        /// Its rotation about the vertical.
        #[serde(default)]
        yaw_deg: f64,
        /// Height of the walls around it.
        #[serde(default)]
        wall_m: f64,
    },
    /// Onto the top of an object: one thing.
    TopOf {
        /// The object.
        object: String,
    },
    /// Nothing is brought anywhere: the tool comes to a place above the one target. Work for those
    /// who learn; no autopilot does it.
    Reach {
        /// Height of the place above the target's origin.
        above_m: f64,
        /// How near the tool must come.
        tolerance_m: f64,
    },
}

impl Job {
    /// Whether an autopilot can do it: things are brought somewhere.
    #[must_use]
    pub fn brings(&self) -> bool {
        !matches!(self.goal, Goal::Reach { .. })
    }

    /// Checks names and numbers against the scene's objects.
    fn check(&self, objects: &BTreeMap<String, Object>) -> Result<(), String> {
        let known = |key: &str, name: &String| {
            if objects.contains_key(name) {
                return Ok(());
            }
            let hint = crate::names::suggestion(name, objects.keys().map(String::as_str));
            Err(format!("{key}: there is no object \"{name}\", {hint}"))
        };
        if self.targets.is_empty() || self.targets.len() > 9 {
            let count = self.targets.len();
            return Err(format!("targets: {count} objects; 1 to 9 are possible"));
        }
        for (index, name) in self.targets.iter().enumerate() {
            known("targets", name)?;
            if self.targets[..index].contains(name) {
                return Err(format!("targets: {name} is named twice"));
            }
        }
        let (object, radius_m) = match &self.goal {
            Goal::Plate { object, radius_m, .. } => (Some(object), *radius_m),
            Goal::VirtualPlate { radius_m, .. } => (None, *radius_m),
            Goal::Tray { object, half_m, .. } => (Some(object), half_m[0].min(half_m[1])),
            Goal::VirtualTray { half_m, .. } => (None, half_m[0].min(half_m[1])),
            Goal::TopOf { object } => (Some(object), 1.0),
            Goal::Reach { above_m, tolerance_m } => {
                if !above_m.is_finite() {
                    return Err(format!("goal: above_m must be a number, not {above_m}"));
                }
                if !(tolerance_m.is_finite() && *tolerance_m > 0.0) {
                    return Err(format!("goal: tolerance_m must be above 0, not {tolerance_m}"));
                }
                (None, 1.0)
            }
        };
        if let Some(object) = object {
            known("goal", object)?;
            if self.targets.contains(object) {
                return Err(format!("goal: {object} is a target itself"));
            }
        }
        let of_one = match self.goal {
            Goal::TopOf { .. } => "cannot all go onto one top",
            Goal::Reach { .. } => "cannot all be reached at once",
            _ => "",
        };
        if !of_one.is_empty() && self.targets.len() > 1 {
            return Err(format!("targets: {} things {of_one}; name one", self.targets.len()));
        }
        if radius_m.is_nan() || radius_m <= 0.0 {
            return Err(format!("goal: radius_m or half_m must be above 0, not {radius_m}"));
        }
        Ok(())
    }
}

/// Engine options; the defaults are those that hold a grasp without creep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Physics {
    /// Time integration.
    pub integrator: Integrator,
    /// Friction cone.
    pub cone: Cone,
    /// Ratio of frictional to normal constraint impedance.
    pub impratio: f64,
    /// Extra solver passes against slip.
    pub noslip_iterations: u32,
    /// Several points of contact between convex bodies (cylinders, meshes) that touch along a
    /// line or a face, instead of one: things lie and are held more steadily.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub multi_contact: bool,
    /// Gravity in the world frame.
    pub gravity_m_s2: [f64; 3],
    /// Take all options but the time step from the model of this robot; then the other keys do
    /// not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl Default for Physics {
    fn default() -> Self {
        Self {
            integrator: Integrator::Implicitfast,
            cone: Cone::Elliptic,
            impratio: 10.0,
            noslip_iterations: 5,
            multi_contact: false,
            gravity_m_s2: [0.0, 0.0, -9.81],
            from: None,
        }
    }
}

/// Time integration. (RK4 is left out: it has no separate first and second half step.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are MuJoCo's own")]
pub enum Integrator {
    Euler,
    Implicit,
    Implicitfast,
}

/// Friction cone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are MuJoCo's own")]
pub enum Cone {
    Elliptic,
    Pyramidal,
}

/// Floor, sky and lights. Colours are red, green, blue (and alpha) from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Appearance {
    /// The two colours of the checkered floor; one colour twice is a plain floor.
    pub floor_rgb: [[f32; 3]; 2],
    /// Side of one floor square.
    pub floor_square_m: f64,
    /// Height of the floor.
    pub floor_z_m: f64,
    /// Sky overhead.
    pub sky_top_rgb: [f32; 3],
    /// Sky at the horizon.
    pub sky_bottom_rgb: [f32; 3],
    /// Light that comes from everywhere.
    pub ambient_rgb: [f32; 3],
    /// Lights.
    pub lights: Vec<Light>,
}

impl Default for Appearance {
    fn default() -> Self {
        Self {
            floor_rgb: [[0.62, 0.64, 0.66], [0.54, 0.56, 0.58]],
            floor_square_m: 0.25,
            floor_z_m: 0.0,
            sky_top_rgb: [0.45, 0.60, 0.78],
            sky_bottom_rgb: [0.86, 0.89, 0.92],
            ambient_rgb: [0.28; 3],
            lights: vec![
                Light { pos_m: [0.6, -0.8, 1.6], ..Light::default() },
                Light {
                    pos_m: [-0.8, 0.9, 1.4],
                    diffuse_rgb: [0.25; 3],
                    casts_shadow: false,
                    ..Light::default()
                },
            ],
        }
    }
}

/// A lamp that shines from `pos_m` to `target_m` in parallel rays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Light {
    /// Where it is (for parallel rays only the direction counts).
    pub pos_m: [f64; 3],
    /// What it is aimed at.
    pub target_m: [f64; 3],
    /// Diffuse colour.
    pub diffuse_rgb: [f32; 3],
    /// Whether things throw shadows in it.
    pub casts_shadow: bool,
}

impl Default for Light {
    fn default() -> Self {
        Self {
            pos_m: [0.0, 0.0, 2.0],
            target_m: [0.0; 3],
            diffuse_rgb: [0.65; 3],
            casts_shadow: true,
        }
    }
}

/// A robot in a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RobotPlacement {
    /// A built-in robot's name, or the path of an MJCF, URDF or robot.yaml file (relative to
    /// the scene file).
    pub model: String,
    /// The point of the surface on which it stands.
    #[serde(default)]
    pub pos_m: [f64; 3],
    /// Rotation about the vertical.
    #[serde(default)]
    pub yaw_deg: f64,
    /// Start pose by name (built-in robots); otherwise `joints`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pose: Option<String>,
    /// Start position per joint, over the pose.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub joints: BTreeMap<String, f64>,
    /// Gain set by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servo: Option<String>,
    /// Stiffness over the gain set's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kp: Option<PerJoint>,
    /// Times the friction that its model file gives its parts, such as the pads of a gripper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction_factor: Option<f64>,
    /// Nothing of the hand may be driven below this height; the surface it stands on when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_z_m: Option<f64>,
}

/// Something that never moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixture {
    /// Where it is.
    #[serde(default)]
    pub pos_m: [f64; 3],
    /// Rotation about the vertical.
    #[serde(default)]
    pub yaw_deg: f64,
    /// What it is made of.
    pub parts: Vec<Part>,
    /// Whether random placement keeps clear of it (a table is stood on, a box is not).
    #[serde(default)]
    pub keep_clear: bool,
}

/// Something that moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// What it is made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Or: an MJCF or URDF file, for articulated objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether its root is fixed to the world (a drawer) or free (an orange). Default free.
    #[serde(default)]
    pub fixed_root: bool,
    /// How much room it takes; needed for a free object from a model file (parts say it
    /// themselves).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footprint: Option<Footprint>,
    /// Where it starts.
    pub place: Place,
}

impl Object {
    /// How much room it takes.
    #[must_use]
    pub fn room(&self) -> Footprint {
        self.footprint.unwrap_or_else(|| Footprint::of(&self.parts))
    }

    /// The pose of an object whose root is fixed to the world.
    #[must_use]
    pub fn fixed_pose(&self) -> Option<Pose> {
        let [x, y] = self.place.spot_m.filter(|_| self.fixed_root)?;
        let Span::One(yaw_deg) = self.place.yaw_deg else { return None };
        Some(Pose::from_yaw([x, y, self.place.surface_z_m], yaw_deg.to_radians()))
    }
}

/// Where an object starts: a fixed spot, or drawn for each episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Always here (x, y). Exactly one of `spot_m`, `rectangle` and `ring` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spot_m: Option<[f64; 2]>,
    /// Anywhere in a rectangle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rectangle: Option<Rectangle>,
    /// Anywhere in a ring sector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<Ring>,
    /// Rotation about the vertical: one angle, or a range to draw from.
    #[serde(default)]
    pub yaw_deg: Span,
    /// Height of the surface it stands on.
    #[serde(default)]
    pub surface_z_m: f64,
    /// Gap kept to other things.
    #[serde(default = "default_clearance")]
    pub clearance_m: f64,
}

fn default_clearance() -> f64 {
    0.01
}

/// A rectangle along the world's axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// From, to.
    pub x_m: [f64; 2],
    /// From, to.
    pub y_m: [f64; 2],
}

/// A sector of a ring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Centre.
    pub center_m: [f64; 2],
    /// Inner and outer radius.
    pub radius_m: [f64; 2],
    /// From, to, counter-clockwise from +X.
    #[serde(default = "full_circle")]
    pub angle_deg: [f64; 2],
}

fn full_circle() -> [f64; 2] {
    [-180.0, 180.0]
}

/// One number, or a range to draw from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged, expecting = "expected one number or a range [from, to]")]
pub enum Span {
    /// Always this.
    One(f64),
    /// From, to.
    Range([f64; 2]),
}

impl Default for Span {
    fn default() -> Self {
        Self::One(0.0)
    }
}

/// A camera: a pinhole with square pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Body it is mounted on (`robot0/gripper`); the world when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<String>,
    /// Position in the mount's frame.
    pub pos_m: [f64; 3],
    /// Orientation in the mount's frame: looks along −Z, +Y is up in the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quat_wxyz: Option<[f64; 4]>,
    /// Or: the point it looks at, in the mount's frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_at_m: Option<[f64; 3]>,
    /// Vertical angle of view.
    pub fovy_deg: f64,
    /// Picture width.
    #[serde(default = "default_width")]
    pub width_px: u32,
    /// Picture height.
    #[serde(default = "default_height")]
    pub height_px: u32,
    /// Nothing nearer is seen.
    #[serde(default = "default_near")]
    pub near_m: f64,
    /// Nothing farther is seen.
    #[serde(default = "default_far")]
    pub far_m: f64,
}

/// What a camera is when nothing else is said.
impl Camera {
    /// Picture width.
    pub const DEFAULT_WIDTH_PX: u32 = 640;
    /// Picture height.
    pub const DEFAULT_HEIGHT_PX: u32 = 480;
    /// Nothing nearer is seen.
    pub const DEFAULT_NEAR_M: f64 = 0.01;
    /// Nothing farther is seen.
    pub const DEFAULT_FAR_M: f64 = 20.0;
}

fn default_width() -> u32 {
    Camera::DEFAULT_WIDTH_PX
}
fn default_height() -> u32 {
    Camera::DEFAULT_HEIGHT_PX
}
fn default_near() -> f64 {
    Camera::DEFAULT_NEAR_M
}
fn default_far() -> f64 {
    Camera::DEFAULT_FAR_M
}

impl Camera {
    /// Pose in the mount's frame.
    ///
    /// # Errors
    /// When neither or both of `quat_wxyz` and `look_at_m` are given.
    pub fn pose(&self) -> Result<Pose, String> {
        let quat_wxyz = match (self.quat_wxyz, self.look_at_m) {
            (Some(quat), None) if quat.iter().any(|c| *c != 0.0) => quat,
            (None, Some(target)) if target != self.pos_m => look_at(self.pos_m, target),
            _ => return Err("give either quat_wxyz (not zero) or look_at_m (not pos_m)".into()),
        };
        Ok(Pose { pos_m: self.pos_m, quat_wxyz })
    }
}

impl Scene {
    /// Checks what the types cannot: rates, sizes, cameras, names.
    ///
    /// # Errors
    /// Names the key and what would be right.
    pub fn check(&self) -> Result<(), String> {
        self.rates.check().map_err(|e| format!("rates: {e}"))?;
        if !self.roots.is_empty() {
            return Err("roots: only recordings' own models have them; leave it out".into());
        }
        if let Some(robot) = &self.physics.from
            && !self.robots.contains_key(robot)
        {
            let hint = crate::names::suggestion(robot, self.robots.keys().map(String::as_str));
            return Err(format!("physics.from: there is no robot \"{robot}\", {hint}"));
        }
        if self.look.floor_square_m <= 0.0 {
            return Err("look.floor_square_m must be above 0".into());
        }
        if let Some(index) = self.look.lights.iter().position(|l| l.pos_m == l.target_m) {
            return Err(format!("look.lights[{index}]: pos_m and target_m must differ"));
        }
        for name in self.robots.keys().chain(self.objects.keys()).chain(self.fixtures.keys()) {
            if name.is_empty() || name.contains(['/', '"', '<', '&', ' ']) {
                return Err(format!("\"{name}\" is no name: use letters, digits, _ and -"));
            }
        }
        let mut taken: Vec<&str> = vec!["world", "floor"];
        for name in self.robots.keys().chain(self.objects.keys()).chain(self.fixtures.keys()) {
            if taken.contains(&name.as_str()) {
                return Err(format!("\"{name}\" is taken, choose another name"));
            }
            taken.push(name);
        }
        for (name, robot) in &self.robots {
            if robot.friction_factor.is_some_and(|f| !(f.is_finite() && f >= 0.0)) {
                return Err(format!("robots.{name}.friction_factor must not be negative"));
            }
        }
        for (name, fixture) in &self.fixtures {
            check_parts(&fixture.parts, true).map_err(|e| format!("fixtures.{name}.{e}"))?;
        }
        for (name, object) in &self.objects {
            if object.parts.is_empty() == object.model.is_none() {
                return Err(format!("objects.{name}: give either parts or model"));
            }
            check_parts(&object.parts, object.model.is_some() || object.fixed_root)
                .map_err(|e| format!("objects.{name}.{e}"))?;
            object.place.check().map_err(|e| format!("objects.{name}.place: {e}"))?;
            if object.fixed_root && object.fixed_pose().is_none() {
                return Err(format!(
                    "objects.{name}: fixed_root needs place.spot_m and one yaw_deg; only free \
                     objects are placed anew for each episode"
                ));
            }
            if object.model.is_some() && !object.fixed_root && object.footprint.is_none() {
                return Err(format!(
                    "objects.{name}: give footprint: {{radius_m: …, below_m: …}}, so that the \
                     object can be placed without overlap"
                ));
            }
        }
        if let Some(job) = &self.job {
            job.check(&self.objects).map_err(|e| format!("job.{e}"))?;
        }
        for (name, camera) in &self.cameras {
            camera.pose().map_err(|e| format!("cameras.{name}: {e}"))?;
            let sizes = camera.width_px > 0 && camera.height_px > 0;
            let range = 0.0 < camera.near_m && camera.near_m < camera.far_m;
            let angle = 0.0 < camera.fovy_deg && camera.fovy_deg < 180.0;
            if !(sizes && range && angle) {
                return Err(format!(
                    "cameras.{name}: width_px and height_px above 0, 0 < near_m < far_m and \
                     0 < fovy_deg < 180 are needed"
                ));
            }
        }
        Ok(())
    }
}

fn check_parts(parts: &[Part], massless_allowed: bool) -> Result<(), String> {
    for (index, part) in parts.iter().enumerate() {
        part.check().map_err(|e| format!("parts[{index}]: {e}"))?;
    }
    if !massless_allowed && parts.iter().map(|p| p.mass_kg).sum::<f64>() <= 0.0 {
        return Err("parts: at least one part needs mass_kg above 0".into());
    }
    Ok(())
}

impl Place {
    fn check(&self) -> Result<(), String> {
        let ordered = |name: &str, [from, to]: [f64; 2]| {
            if from <= to { Ok(()) } else { Err(format!("{name}: from {from} is above to {to}")) }
        };
        let given = [self.spot_m.is_some(), self.rectangle.is_some(), self.ring.is_some()];
        if given.iter().filter(|g| **g).count() != 1 {
            return Err("give exactly one of spot_m, rectangle and ring".into());
        }
        if let Some(r) = &self.rectangle {
            ordered("rectangle.x_m", r.x_m)?;
            ordered("rectangle.y_m", r.y_m)?;
        }
        if let Some(r) = &self.ring {
            ordered("ring.radius_m", r.radius_m)?;
            ordered("ring.angle_deg", r.angle_deg)?;
            if r.radius_m[0] < 0.0 {
                return Err("ring.radius_m must not be negative".into());
            }
        }
        if let Span::Range(range) = self.yaw_deg {
            ordered("yaw_deg", range)?;
        }
        Ok(())
    }
}
