//! The world around the robots as MJCF text: floor, lights, fixtures, objects made of parts.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use citrange_core::Pose;
use citrange_core::Scene;
use citrange_core::scene::{Appearance, Camera, Cone, Integrator};
use citrange_core::shape::{Part, RING_SEGMENTS, Shape};

/// Groups 0 to 2 are seen, 3 is for collision shapes only.
const VISIBLE_GROUP: u32 = 0;
const HIDDEN_GROUP: u32 = 3;

/// Numbers with blanks between, each exact when read back.
fn list<T: std::fmt::Display>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The scene without robots and without objects that come from model files.
pub(crate) fn world_text(scene: &Scene) -> String {
    let mut assets = String::new();
    let mut bodies = String::new();
    for (name, fixture) in &scene.fixtures {
        let pose = Pose::from_yaw(fixture.pos_m, fixture.yaw_deg.to_radians());
        body(name, &pose, None, &fixture.parts, &mut bodies, &mut assets);
    }
    for (name, object) in &scene.objects {
        if object.model.is_none() {
            let joint = if object.fixed_root { None } else { Some(name.as_str()) };
            let pose = object.fixed_pose().unwrap_or(Pose::IDENTITY);
            body(name, &pose, joint, &object.parts, &mut bodies, &mut assets);
        }
    }
    let physics = &scene.physics;
    let integrator = match physics.integrator {
        Integrator::Euler => "Euler",
        Integrator::Implicit => "implicit",
        Integrator::Implicitfast => "implicitfast",
    };
    let cone = match physics.cone {
        Cone::Elliptic => "elliptic",
        Cone::Pyramidal => "pyramidal",
    };
    let width =
        scene.cameras.values().map(|c| c.width_px).max().unwrap_or(Camera::DEFAULT_WIDTH_PX);
    let height =
        scene.cameras.values().map(|c| c.height_px).max().unwrap_or(Camera::DEFAULT_HEIGHT_PX);
    format!(
        "<mujoco model=\"{name}\">\n\
         <compiler angle=\"radian\" autolimits=\"true\"/>\n\
         <option timestep=\"{timestep}\" integrator=\"{integrator}\" cone=\"{cone}\" \
         impratio=\"{impratio}\" noslip_iterations=\"{noslip}\" gravity=\"{gravity}\">\
         <flag autoreset=\"disable\"{multi_contact}/></option>\n\
         <visual><global offwidth=\"{width}\" offheight=\"{height}\"/>\
         <headlight ambient=\"{ambient}\" diffuse=\"0.22 0.22 0.22\" specular=\"0 0 0\"/>\
         </visual>\n\
         <asset>\n{look_assets}{assets}</asset>\n\
         <worldbody>\n{look}{bodies}</worldbody>\n</mujoco>\n",
        name = scene.name,
        timestep = scene.rates.timestep_s(),
        impratio = physics.impratio,
        noslip = physics.noslip_iterations,
        multi_contact = if physics.multi_contact { " multiccd=\"enable\"" } else { "" },
        gravity = list(&physics.gravity_m_s2),
        ambient = list(&scene.look.ambient_rgb),
        look_assets = look_assets(&scene.look),
        look = look_bodies(&scene.look),
    )
}

fn look_assets(look: &Appearance) -> String {
    // One texture repeat holds two squares, and covers 2/texrepeat metres of an endless plane.
    let repeat = 1.0 / look.floor_square_m;
    format!(
        "<texture name=\"sky\" type=\"skybox\" builtin=\"gradient\" rgb1=\"{top}\" rgb2=\"{bottom}\" \
         width=\"64\" height=\"64\"/>\n\
         <texture name=\"floor\" type=\"2d\" builtin=\"checker\" rgb1=\"{a}\" rgb2=\"{b}\" \
         width=\"128\" height=\"128\"/>\n\
         <material name=\"floor\" texture=\"floor\" texuniform=\"true\" texrepeat=\"{repeat} {repeat}\" \
         specular=\"0.1\" shininess=\"0.1\"/>\n",
        top = list(&look.sky_top_rgb),
        bottom = list(&look.sky_bottom_rgb),
        a = list(&look.floor_rgb[0]),
        b = list(&look.floor_rgb[1]),
    )
}

fn look_bodies(look: &Appearance) -> String {
    let mut out = format!(
        "<geom name=\"floor\" type=\"plane\" size=\"0 0 0.1\" pos=\"0 0 {}\" material=\"floor\"/>\n",
        look.floor_z_m
    );
    for light in &look.lights {
        let dir: [f64; 3] = std::array::from_fn(|i| light.target_m[i] - light.pos_m[i]);
        let _infallible = writeln!(
            out,
            "<light type=\"directional\" pos=\"{}\" dir=\"{}\" diffuse=\"{}\" \
             specular=\"0.3 0.3 0.3\" castshadow=\"{}\"/>",
            list(&light.pos_m),
            list(&dir),
            list(&light.diffuse_rgb),
            light.casts_shadow
        );
    }
    out
}

fn body(
    name: &str,
    pose: &Pose,
    free_joint: Option<&str>,
    parts: &[Part],
    out: &mut String,
    assets: &mut String,
) {
    *out += &format!(
        "<body name=\"{name}\" pos=\"{}\" quat=\"{}\">\n",
        list(&pose.pos_m),
        list(&pose.quat_wxyz)
    );
    if let Some(joint) = free_joint {
        *out += &format!("<freejoint name=\"{joint}\"/>\n");
    }
    for (index, part) in parts.iter().enumerate() {
        geoms(&format!("{name}.{index}"), part, out, assets);
    }
    *out += "</body>\n";
}

/// One part: usually one geom; a ring is many.
fn geoms(name: &str, part: &Part, out: &mut String, assets: &mut String) {
    let mut common = format!(
        "rgba=\"{}\" group=\"{}\" material=\"{name}\"",
        list(&part.rgba),
        if part.visible { VISIBLE_GROUP } else { HIDDEN_GROUP }
    );
    *assets += &format!(
        "<material name=\"{name}\" rgba=\"{}\" specular=\"{gloss}\" shininess=\"{gloss}\"/>\n",
        list(&part.rgba),
        gloss = part.gloss
    );
    if !part.collides {
        common += " contype=\"0\" conaffinity=\"0\"";
    }
    let mut optional = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            common += &format!(" {key}=\"{value}\"");
        }
    };
    optional("friction", part.friction.map(|v| list(&v)));
    optional("condim", part.condim.map(|v| v.to_string()));
    optional("solref", part.solref.map(|v| list(&v)));
    optional("solimp", part.solimp.map(|v| list(&v)));
    optional("margin", part.margin_m.map(|v| v.to_string()));
    let place = format!("pos=\"{}\" quat=\"{}\"", list(&part.pos_m), list(&part.quat_wxyz));
    let mass = part.mass_kg;
    let mut geom = |shape: &str| {
        *out += &format!("<geom name=\"{name}\" {shape} {place} mass=\"{mass}\" {common}/>\n");
    };
    match part.shape {
        // Scene files cannot write these: the floor is the scene's look, meshes are model files.
        Shape::Plane { .. } | Shape::Mesh(_) => {}
        Shape::Box { half_m } => geom(&format!("type=\"box\" size=\"{}\"", list(&half_m))),
        Shape::Sphere { radius_m } => geom(&format!("type=\"sphere\" size=\"{radius_m}\"")),
        Shape::Ellipsoid { radii_m } => {
            geom(&format!("type=\"ellipsoid\" size=\"{}\"", list(&radii_m)));
        }
        Shape::Cylinder { radius_m, half_height_m } => {
            geom(&format!("type=\"cylinder\" size=\"{radius_m} {half_height_m}\""));
        }
        Shape::Capsule { radius_m, half_height_m } => {
            geom(&format!("type=\"capsule\" size=\"{radius_m} {half_height_m}\""));
        }
        Shape::Frustum { radius_m, top_radius_m, half_height_m } => {
            let mut points = Vec::new();
            for (radius, z) in [(radius_m, -half_height_m), (top_radius_m, half_height_m)] {
                for side in 0..RING_SEGMENTS {
                    let angle = TAU * side as f64 / RING_SEGMENTS as f64;
                    points.push(list(&[radius * angle.cos(), radius * angle.sin(), z]));
                }
            }
            *assets += &format!(
                "<mesh name=\"{name}\" vertex=\"{}\" inertia=\"convex\"/>\n",
                points.join(" ")
            );
            // The compiler moves a mesh to its own centre of mass; its frame stays as written.
            geom(&format!("type=\"mesh\" mesh=\"{name}\""));
        }
        Shape::Ring { radius_m, bar_radius_m } => {
            *out += &format!("<frame {place}>\n");
            let each = mass / RING_SEGMENTS as f64;
            for segment in 0..RING_SEGMENTS {
                let at = |k: usize| {
                    let angle = TAU * k as f64 / RING_SEGMENTS as f64;
                    list(&[radius_m * angle.cos(), radius_m * angle.sin(), 0.0])
                };
                *out += &format!(
                    "<geom name=\"{name}.{segment}\" type=\"capsule\" fromto=\"{} {}\" \
                     size=\"{bar_radius_m}\" mass=\"{each}\" {common}/>\n",
                    at(segment),
                    at(segment + 1)
                );
            }
            *out += "</frame>\n";
        }
    }
}
