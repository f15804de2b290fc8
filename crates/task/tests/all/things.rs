//! Things to be taken: shapes and sizes, as scene files say them.
#![allow(unreachable_pub)] // shared by the test files

use std::fmt::Write as _;

use citrange_core::Rates;

/// Kilograms per cubic metre of a thing, and the least and most that it weighs.
const DENSITY_KG_M3: f64 = 500.0;
const MASS_KG: [f64; 2] = [0.01, 0.15];
/// How every thing slides, turns and rolls.
const SURFACE: &str = "friction: [1, 0.005, 0.0005], condim: 6, solref: [0.01, 1], \
                       solimp: [0.95, 0.99, 0.001], rgba: [0.9, 0.5, 0.1, 1]";
/// On its side.
const LYING: &str = "quat_wxyz: [0.7071067811865476, 0.7071067811865476, 0, 0]";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Robot {
    So101,
    Panda,
}

impl Robot {
    pub fn name(self) -> &'static str {
        match self {
            Self::So101 => "so101",
            Self::Panda => "panda",
        }
    }

    /// The scene whose table it works on.
    pub fn scene(self) -> &'static str {
        match self {
            Self::So101 => "orange_plate",
            Self::Panda => "multi_table_assembly",
        }
    }

    /// Steps short enough for things of ten grams in stiff jaws, and an arm that is told often
    /// enough where to go.
    pub fn rates(self) -> Rates {
        match self {
            Self::So101 => Rates { physics_hz: 360, control_hz: 180, frame_hz: 30 },
            Self::Panda => Rates { physics_hz: 1000, control_hz: 100, frame_hz: 20 },
        }
    }

    /// Where things start.
    pub fn place(self) -> &'static str {
        match self {
            Self::So101 => "{rectangle: {x_m: [0.14, 0.26], y_m: [0, 0.17]}, yaw_deg: [-180, 180]}",
            Self::Panda => {
                "{rectangle: {x_m: [-0.06, 0.06], y_m: [0.18, 0.26]}, yaw_deg: [-180, 180], \
                 surface_z_m: 0.8}"
            }
        }
    }

    /// Elsewhere on the same table: for what nothing was tuned on.
    pub fn other_place(self) -> &'static str {
        match self {
            Self::So101 => {
                "{rectangle: {x_m: [0.13, 0.25], y_m: [0.03, 0.19]}, yaw_deg: [-180, 180]}"
            }
            Self::Panda => {
                "{rectangle: {x_m: [-0.1, 0.02], y_m: [0.14, 0.24]}, yaw_deg: [-180, 180], \
                 surface_z_m: 0.8}"
            }
        }
    }

    /// A plate where it reaches.
    pub fn plate(self) -> String {
        let place = match self {
            Self::So101 => "{spot_m: [0.165, -0.15]}",
            Self::Panda => "{spot_m: [0, -0.225], surface_z_m: 0.8}",
        };
        format!(
            "parts:\n\
             - {{shape: {{box: {{half_m: [0.098, 0.098, 0.004]}}}}, \
             pos_m: [0, 0, 0.004], mass_kg: 0.35}}\n\
             - {{shape: {{ring: {{radius_m: 0.094, bar_radius_m: 0.006}}}}, \
             pos_m: [0, 0, 0.014], mass_kg: 0.15}}\nplace: {place}\n"
        )
    }

    pub fn job(self, targets: &str) -> String {
        let profile = match self {
            Self::So101 => "default",
            Self::Panda => "panda",
        };
        format!(
            "targets: {targets}\n\
             goal: {{plate: {{object: plate, radius_m: 0.088, surface_m: 0.008}}}}\n\
             profile: {profile}\n"
        )
    }
}

/// A shape and its sizes, millimetres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Radius.
    Ball(f64),
    /// Edge.
    Cube(f64),
    /// Edges.
    Box([f64; 3]),
    /// Radius, height.
    Standing(f64, f64),
    /// Radius, length.
    Lying(f64, f64),
    /// Radius, length without the round ends.
    Capsule(f64, f64),
    /// Radii.
    Ellipsoid([f64; 3]),
    /// Radius, height: a cup of sixteen sides with a handle, two meshes.
    Mug(f64, f64),
    /// Radius, height: six sides, wider below, and a handle that is higher than it is long.
    Jug(f64, f64),
}

impl Kind {
    pub fn shape(&self) -> &'static str {
        match self {
            Self::Ball(_) => "ball",
            Self::Cube(_) => "cube",
            Self::Box(_) => "box",
            Self::Standing(..) => "standing",
            Self::Lying(..) => "lying",
            Self::Capsule(..) => "capsule",
            Self::Ellipsoid(_) => "ellipsoid",
            Self::Mug(..) => "mug",
            Self::Jug(..) => "jug",
        }
    }

    fn sizes(&self) -> Vec<f64> {
        match *self {
            Self::Ball(a) | Self::Cube(a) => vec![a],
            Self::Standing(a, b)
            | Self::Lying(a, b)
            | Self::Capsule(a, b)
            | Self::Mug(a, b)
            | Self::Jug(a, b) => {
                vec![a, b]
            }
            Self::Box(all) | Self::Ellipsoid(all) => all.to_vec(),
        }
    }

    pub fn name(&self) -> String {
        let sizes: Vec<String> = self.sizes().iter().map(f64::to_string).collect();
        format!("{} {}", self.shape(), sizes.join("x"))
    }

    /// As an object of a scene.
    pub fn object(&self, place: &str) -> String {
        use std::f64::consts::PI;
        let m = |mm: f64| mm / 1000.0;
        let mass = |m3: f64| (DENSITY_KG_M3 * m3).clamp(MASS_KG[0], MASS_KG[1]);
        let part = |shape: String, more: &str, m3: f64| {
            format!(
                "parts: [{{shape: {shape}, mass_kg: {}, {SURFACE}{more}}}]\nplace: {place}\n",
                mass(m3)
            )
        };
        let lying = format!(", {LYING}");
        match *self {
            Self::Ball(r) => {
                let r = m(r);
                part(format!("{{sphere: {{radius_m: {r}}}}}"), "", 4.2 * r.powi(3))
            }
            Self::Cube(a) => Self::Box([a; 3]).object(place),
            Self::Box(all) => {
                let half = all.map(|a| m(a) / 2.0);
                part(format!("{{box: {{half_m: {half:?}}}}}"), "", all.map(m).iter().product())
            }
            Self::Standing(r, h) | Self::Lying(r, h) => {
                let (r, h) = (m(r), m(h));
                let shape = format!("{{cylinder: {{radius_m: {r}, half_height_m: {}}}}}", h / 2.0);
                let more = if matches!(self, Self::Lying(..)) { &lying } else { "" };
                part(shape, more, PI * r * r * h)
            }
            Self::Capsule(r, h) => {
                let (r, h) = (m(r), m(h));
                let shape = format!("{{capsule: {{radius_m: {r}, half_height_m: {}}}}}", h / 2.0);
                part(shape, &lying, PI * r * r * (h + 4.0 / 3.0 * r))
            }
            Self::Ellipsoid(radii) => {
                let radii = radii.map(m);
                let m3 = 4.2 * radii.iter().product::<f64>();
                part(format!("{{ellipsoid: {{radii_m: {radii:?}}}}}"), "", m3)
            }
            Self::Mug(r, h) | Self::Jug(r, h) => {
                let (r, h) = (m(r), m(h));
                let reach = 1.6 * r;
                let cup = match self {
                    Self::Mug(..) => Cup { sides: 16, below: 0.92, above: 1.0, handle: MUG_HANDLE },
                    _ => Cup { sides: 6, below: 1.0, above: 0.8, handle: JUG_HANDLE },
                };
                let path = cup.write(self.shape(), r, h);
                format!(
                    "model: {}\nfootprint: {{radius_m: {reach}, below_m: {}}}\nplace: {place}\n",
                    path.display(),
                    h / 2.0
                )
            }
        }
    }
}

/// From where to where a handle reaches out in radii, half its thickness, half its height in
/// heights: at the cup and at its outer end.
type Handle = [[f64; 3]; 2];
const MUG_HANDLE: Handle = [[0.9, 0.12, 0.3], [1.5, 0.12, 0.2]];
const JUG_HANDLE: Handle = [[0.8, 0.09, 0.38], [1.35, 0.09, 0.38]];

/// A cup with a handle, two meshes.
struct Cup {
    sides: u32,
    /// Fraction of the radius at the foot and at the rim.
    below: f64,
    above: f64,
    handle: Handle,
}

impl Cup {
    /// Writes it and answers where.
    fn write(&self, name: &str, r: f64, h: f64) -> std::path::PathBuf {
        let mut cup = String::new();
        for k in 0..self.sides {
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(self.sides);
            let (sin, cos) = angle.sin_cos();
            let _ = write!(cup, "{} {} {} ", self.below * r * cos, self.below * r * sin, -h / 2.0);
            let _ = write!(cup, "{} {} {} ", self.above * r * cos, self.above * r * sin, h / 2.0);
        }
        let mut handle = String::new();
        for [x, y, z] in self.handle {
            for side in [-1.0, 1.0] {
                for up in [-1.0, 1.0] {
                    let _ = write!(handle, "{} {} {} ", x * r, side * y * r, up * z * h);
                }
            }
        }
        let contact = "friction=\"1 0.005 0.0005\" condim=\"6\" solref=\"0.01 1\"";
        let text = format!(
            "<mujoco><asset><mesh name=\"cup\" vertex=\"{cup}\"/><mesh name=\"handle\" \
             vertex=\"{handle}\"/></asset><worldbody><body name=\"{name}\">\
             <geom type=\"mesh\" mesh=\"cup\" mass=\"0.05\" {contact}/>\
             <geom type=\"mesh\" mesh=\"handle\" mass=\"0.005\" {contact}/></body></worldbody></mujoco>"
        );
        let file = format!("citrange_{name}_{}_{r}_{h}.xml", std::process::id());
        let path = std::env::temp_dir().join(file);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// Sizes that the autopilot was made with.
pub fn tried(robot: Robot) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let radii: &[f64] = match robot {
        Robot::So101 => &[
            6.0, 8.0, 10.0, 12.0, 15.0, 18.0, 20.0, 22.0, 25.0, 28.0, 30.0, 33.0, 35.0, 38.0, 42.0,
        ],
        Robot::Panda => &[6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 33.0, 36.0, 45.0],
    };
    kinds.extend(radii.iter().map(|r| Kind::Ball(*r)));
    let edges = [12.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 70.0, 80.0];
    kinds.extend(edges.map(Kind::Cube));
    kinds.extend(
        [
            [20.0, 60.0, 30.0],
            [30.0, 80.0, 20.0],
            [40.0, 60.0, 25.0],
            [15.0, 40.0, 60.0],
            [50.0, 80.0, 40.0],
        ]
        .map(Kind::Box),
    );
    kinds.extend(
        [[10.0, 40.0], [15.0, 60.0], [20.0, 80.0], [25.0, 50.0], [30.0, 70.0], [20.0, 25.0]]
            .map(|[r, h]| Kind::Standing(r, h)),
    );
    kinds.extend(
        [[10.0, 60.0], [15.0, 80.0], [20.0, 50.0], [25.0, 70.0]].map(|[r, h]| Kind::Lying(r, h)),
    );
    kinds.extend([[12.0, 40.0], [20.0, 50.0]].map(|[r, h]| Kind::Capsule(r, h)));
    kinds.extend([[20.0, 30.0, 18.0], [25.0, 35.0, 25.0]].map(Kind::Ellipsoid));
    kinds.extend([[20.0, 50.0], [28.0, 60.0]].map(|[r, h]| Kind::Mug(r, h)));
    kinds
}

/// Sizes that nothing was tuned on: measured last.
pub fn held_aside(robot: Robot) -> Vec<Kind> {
    let wide = match robot {
        Robot::So101 => 32.0,
        Robot::Panda => 34.0,
    };
    vec![
        Kind::Ball(11.0),
        Kind::Ball(23.0),
        Kind::Ball(wide),
        Kind::Cube(27.0),
        Kind::Cube(43.0),
        Kind::Cube(52.0),
        Kind::Box([35.0, 70.0, 30.0]),
        Kind::Box([18.0, 50.0, 45.0]),
        Kind::Standing(18.0, 70.0),
        Kind::Standing(27.0, 45.0),
        Kind::Lying(17.0, 70.0),
        Kind::Capsule(16.0, 60.0),
        Kind::Ellipsoid([22.0, 34.0, 20.0]),
        Kind::Mug(24.0, 55.0),
    ]
}

/// Sizes and shapes that were chosen before anything was run on them: for a blind measurement.
pub fn blind(robot: Robot) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = [14.0, 17.0, 24.0, 29.0].map(Kind::Ball).to_vec();
    kinds.extend([18.0, 23.0, 33.0, 38.0, 47.0, 54.0].map(Kind::Cube));
    if robot == Robot::So101 {
        kinds.extend([Kind::Ball(34.0), Kind::Ball(40.0)]);
        kinds.extend([58.0, 64.0, 75.0].map(Kind::Cube));
    }
    kinds.extend([[25.0, 45.0, 38.0], [22.0, 90.0, 28.0], [45.0, 55.0, 20.0]].map(Kind::Box));
    kinds.extend([[16.0, 30.0, 50.0], [38.0, 75.0, 48.0]].map(Kind::Box));
    let standing = [[13.0, 55.0], [17.0, 65.0], [23.0, 75.0], [28.0, 40.0]];
    kinds.extend(standing.map(|[r, h]| Kind::Standing(r, h)));
    kinds.extend([[13.0, 70.0], [18.0, 60.0], [22.0, 80.0]].map(|[r, h]| Kind::Lying(r, h)));
    kinds.extend([[14.0, 55.0], [19.0, 35.0]].map(|[r, h]| Kind::Capsule(r, h)));
    let radii = [[18.0, 27.0, 22.0], [24.0, 30.0, 20.0], [28.0, 33.0, 24.0]];
    kinds.extend(radii.map(Kind::Ellipsoid));
    kinds.extend([[22.0, 45.0], [26.0, 65.0]].map(|[r, h]| Kind::Jug(r, h)));
    kinds
}
