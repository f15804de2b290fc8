//! How episodes differ in what a policy must not depend on: colours, light, cameras, friction,
//! mass. A randomised scene is a scene like any other, a function of (scene, ranges, seed, episode
//! index) alone. Where objects start is random anyway: [`crate::placement`].

use std::collections::BTreeMap;

use nalgebra::{Unit, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

use crate::origin::{Layer, Traced};
use crate::pose::Pose;
use crate::rng::Rng;
use crate::robot::RobotDescription;
use crate::scene::{Camera, Light, RobotPlacement, Scene};
use crate::shape::Part;
use crate::yaml::{YamlError, from_yaml};

mod colour;

pub use colour::Colours;

/// Sliding, turning and rolling friction of a part that does not say its own: the engine's.
const ENGINE_FRICTION: [f64; 3] = [1.0, 0.005, 0.0001];
/// The narrowest and widest view that is left of a camera.
const FOVY_DEG: [f64; 2] = [1.0, 170.0];

/// From, to: a factor of what the scene says.
type Factor = [f64; 2];
const SAME: Factor = [1.0, 1.0];

/// What is drawn anew for every episode. What is not named stays as it is in the scene.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Randomise {
    /// Things that move. Of those that come from a model file only the place is random.
    pub objects: Objects,
    /// Tables, walls.
    pub fixtures: Fixtures,
    /// The floor's squares.
    pub floor: Colours,
    /// Lamps.
    pub light: Lamps,
    /// Cameras.
    pub cameras: Cameras,
    /// Robots.
    pub robots: Robots,
}

/// Things that move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Objects {
    /// Colours of the parts.
    pub colours: Colours,
    /// Objects whose names begin with the same of these words change colour together.
    pub alike: Vec<String>,
    /// Friction. Of two things that touch, the rougher decides.
    pub friction: Factor,
    /// Mass.
    pub mass: Factor,
}

impl Default for Objects {
    fn default() -> Self {
        Self { colours: Colours::default(), alike: Vec::new(), friction: SAME, mass: SAME }
    }
}

/// Things that never move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fixtures {
    /// Colours of the parts.
    pub colours: Colours,
    /// Friction.
    pub friction: Factor,
}

impl Default for Fixtures {
    fn default() -> Self {
        Self { colours: Colours::default(), friction: SAME }
    }
}

/// Lamps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lamps {
    /// Brightness, each lamp for itself.
    pub intensity: Factor,
    /// Largest rotation of a lamp about what it is aimed at.
    pub direction_deg: f64,
    /// Light from everywhere, each of red, green and blue for itself.
    pub ambient: Factor,
}

impl Default for Lamps {
    fn default() -> Self {
        Self { intensity: SAME, direction_deg: 0.0, ambient: SAME }
    }
}

/// Cameras: largest change to either side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cameras {
    /// Along each axis.
    pub position_m: f64,
    /// About any axis.
    pub orientation_deg: f64,
    /// Vertical angle of view.
    pub fovy_deg: f64,
}

/// Robots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Robots {
    /// Friction of all parts; the pads of a gripper decide how well it holds.
    pub friction: Factor,
    /// Largest change of an arm joint's start position, for robots with a description.
    pub arm_joints_rad: f64,
}

impl Default for Robots {
    fn default() -> Self {
        Self { friction: SAME, arm_joints_rad: 0.0 }
    }
}

impl Randomise {
    /// The ranges that `--randomise default` means.
    ///
    /// # Errors
    /// Never, as long as the built-in file is right.
    pub fn built_in() -> Result<Self, YamlError> {
        from_yaml(include_str!("../randomise/default.yaml"), "default.yaml")
    }

    /// Ranges with who said each value: those of `--randomise default`, or of a file's text.
    ///
    /// # Errors
    /// When the text is not as it should be.
    pub fn traced(file: Option<(&str, &str)>) -> Result<Traced, YamlError> {
        let (name, text) =
            file.unwrap_or(("default.yaml", include_str!("../randomise/default.yaml")));
        let profile = file.is_none().then(|| "default".to_owned());
        let layer = Layer { profile, file: name.to_owned(), text: text.to_owned() };
        Traced::new(&from_yaml::<Self>(text, name)?, &[layer])
    }

    /// Checks that ranges are ranges.
    ///
    /// # Errors
    /// Names the key and what would be right.
    pub fn check(&self) -> Result<(), String> {
        let factors = [
            ("objects.friction", self.objects.friction),
            ("objects.mass", self.objects.mass),
            ("fixtures.friction", self.fixtures.friction),
            ("robots.friction", self.robots.friction),
            ("light.intensity", self.light.intensity),
            ("light.ambient", self.light.ambient),
        ];
        let colours = [
            ("objects.colours", &self.objects.colours),
            ("fixtures.colours", &self.fixtures.colours),
            ("floor", &self.floor),
        ];
        for (key, colours) in colours {
            colours.check().map_err(|e| format!("{key}.{e}"))?;
        }
        for (key, factor) in factors {
            check_factor(factor).map_err(|e| format!("{key}: {e}"))?;
        }
        if self.objects.mass[0] <= 0.0 {
            return Err("objects.mass: nothing weighs nothing; begin above 0".into());
        }
        let sides = [
            ("light.direction_deg", self.light.direction_deg),
            ("cameras.position_m", self.cameras.position_m),
            ("cameras.orientation_deg", self.cameras.orientation_deg),
            ("cameras.fovy_deg", self.cameras.fovy_deg),
            ("robots.arm_joints_rad", self.robots.arm_joints_rad),
        ];
        match sides.into_iter().find(|(_, most)| !(most.is_finite() && *most >= 0.0)) {
            Some((key, most)) => Err(format!("{key}: {most} must be 0 or more")),
            None => Ok(()),
        }
    }
}

fn check_factor([from, to]: Factor) -> Result<(), String> {
    let fits = 0.0 <= from && from <= to && to.is_finite();
    if fits { Ok(()) } else { Err(format!("[{from}, {to}] must be factors [from, to]")) }
}

/// The scene of one episode. `robots` are the descriptions of its robots, where they have one.
/// `how` must pass [`Randomise::check`], the scene [`Scene::check`]; then the result does, too.
#[must_use]
pub fn randomised(
    scene: &Scene,
    robots: &BTreeMap<String, RobotDescription>,
    how: &Randomise,
    seed: u64,
    episode: u64,
) -> Scene {
    // A stream per purpose and thing: what is added to a scene does not change the rest.
    let rng =
        |what: &str, of: &str| Rng::for_episode(seed, episode, &format!("randomise/{what}/{of}"));
    let mut scene = scene.clone();
    for (name, object) in &mut scene.objects {
        let alike = how.objects.alike.iter().find(|word| name.starts_with(word.as_str()));
        recolour(&mut object.parts, &how.objects.colours, rng("colour", alike.unwrap_or(name)));
        scale_friction(&mut object.parts, how.objects.friction, rng("friction", name));
        let factor = draw(how.objects.mass, &mut rng("mass", name));
        object.parts.iter_mut().for_each(|part| part.mass_kg *= factor);
    }
    for (name, fixture) in &mut scene.fixtures {
        recolour(&mut fixture.parts, &how.fixtures.colours, rng("colour", name));
        scale_friction(&mut fixture.parts, how.fixtures.friction, rng("friction", name));
    }
    let floor = how.floor.draw(&mut rng("colour", "floor"));
    scene.look.floor_rgb = scene.look.floor_rgb.map(|rgb| floor.of(rgb));
    for (index, light) in scene.look.lights.iter_mut().enumerate() {
        relight(light, &how.light, &mut rng("light", &index.to_string()));
    }
    let mut ambient = rng("ambient", "");
    for channel in &mut scene.look.ambient_rgb {
        *channel = scaled(*channel, draw(how.light.ambient, &mut ambient));
    }
    for (name, camera) in &mut scene.cameras {
        move_camera(camera, &how.cameras, &mut rng("camera", name));
    }
    for (name, robot) in &mut scene.robots {
        let factor = draw(how.robots.friction, &mut rng("friction", name));
        if how.robots.friction != SAME {
            robot.friction_factor = Some(robot.friction_factor.unwrap_or(1.0) * factor);
        }
        if let Some(description) = robots.get(name) {
            move_joints(robot, description, how.robots.arm_joints_rad, &mut rng("joints", name));
        }
    }
    scene
}

fn draw([from, to]: Factor, rng: &mut Rng) -> f64 {
    rng.uniform(from, to)
}

fn to_either_side(most: f64, rng: &mut Rng) -> f64 {
    rng.uniform(-most, most)
}

/// A colour channel times a factor; no colour is brighter than full.
fn scaled(channel: f32, factor: f64) -> f32 {
    (f64::from(channel) * factor).clamp(0.0, 1.0) as f32
}

fn recolour(parts: &mut [Part], how: &Colours, mut rng: Rng) {
    let change = how.draw(&mut rng);
    for part in parts {
        let [r, g, b, alpha] = part.rgba;
        let [r, g, b] = change.of([r, g, b]);
        part.rgba = [r, g, b, alpha];
    }
}

fn scale_friction(parts: &mut [Part], range: Factor, mut rng: Rng) {
    let factor = draw(range, &mut rng);
    if range == SAME {
        return;
    }
    for part in parts.iter_mut().filter(|part| part.collides) {
        part.friction = Some(part.friction.unwrap_or(ENGINE_FRICTION).map(|f| f * factor));
    }
}

fn relight(light: &mut Light, how: &Lamps, rng: &mut Rng) {
    let factor = draw(how.intensity, rng);
    light.diffuse_rgb = light.diffuse_rgb.map(|channel| scaled(channel, factor));
    let rotation = any_rotation(how.direction_deg, rng);
    let target = Vector3::from(light.target_m);
    let moved = rotation * (Vector3::from(light.pos_m) - target) + target;
    // A lamp so near its target that the rotation is rounded away stays where it is.
    if how.direction_deg > 0.0 && moved != target {
        light.pos_m = moved.into();
    }
}

/// A rotation of at most `most_deg` about an axis in any direction.
fn any_rotation(most_deg: f64, rng: &mut Rng) -> UnitQuaternion<f64> {
    let up = rng.uniform(-1.0, 1.0);
    let around = rng.uniform(0.0, std::f64::consts::TAU);
    let out = (1.0 - up * up).max(0.0).sqrt();
    let axis = Vector3::new(out * around.cos(), out * around.sin(), up);
    let angle = rng.uniform(0.0, most_deg.to_radians());
    UnitQuaternion::from_axis_angle(&Unit::new_normalize(axis), angle)
}

fn move_camera(camera: &mut Camera, how: &Cameras, rng: &mut Rng) {
    let shift: [f64; 3] = std::array::from_fn(|_| to_either_side(how.position_m, rng));
    let rotation = any_rotation(how.orientation_deg, rng);
    let [narrow, wide] = FOVY_DEG;
    let fovy_deg = camera.fovy_deg + to_either_side(how.fovy_deg, rng);
    if how.fovy_deg > 0.0 && camera.fovy_deg < wide && camera.fovy_deg > narrow {
        camera.fovy_deg = fovy_deg.clamp(narrow, wide);
    }
    if how.position_m == 0.0 && how.orientation_deg == 0.0 {
        return;
    }
    let Ok(pose) = camera.pose() else { return };
    let mut moved = pose.isometry();
    moved.translation.vector += Vector3::from(shift);
    // Rotated in its own frame, so that it stays where it is.
    moved.rotation *= rotation;
    let moved = Pose::from(moved);
    camera.pos_m = moved.pos_m;
    camera.quat_wxyz = Some(moved.quat_wxyz);
    camera.look_at_m = None;
}

fn move_joints(
    robot: &mut RobotPlacement,
    description: &RobotDescription,
    most_rad: f64,
    rng: &mut Rng,
) {
    let named = robot.pose.as_ref().unwrap_or(&description.home);
    let Ok(pose) = description.pose(named) else { return };
    if most_rad == 0.0 {
        return;
    }
    for (joint, start) in description.arm_joints.iter().zip(pose) {
        let change = to_either_side(most_rad, rng);
        *robot.joints.entry(joint.clone()).or_insert(*start) += change;
    }
}

#[cfg(test)]
mod tests;
