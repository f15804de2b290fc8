//! A model joins the world: as a whole, or one of the robots in it.

use citrange_core::Pose;
use mujoco_rs::prelude::*;
use mujoco_rs::wrappers::mj_editing::MjsBody;

/// How a model joins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attachment<'a> {
    /// Its names get the prefix `name/`.
    pub(crate) name: &'a str,
    /// Where its own world is.
    pub(crate) pose: &'a Pose,
    /// Its root gets a free joint.
    pub(crate) free: bool,
    /// Times the friction that its geoms have.
    pub(crate) friction_factor: Option<f64>,
    /// Only this body and what hangs on it.
    pub(crate) root: Option<&'a str>,
}

impl Attachment<'_> {
    /// Puts a model into the world.
    pub(crate) fn attach(&self, spec: &mut MjSpec, child: &mut MjSpec) -> Result<(), String> {
        let name = self.name;
        if self.free {
            let root = child.world_body_mut().body_iter_mut().next();
            root.ok_or_else(|| format!("model of {name} has no body"))?.add_free_joint();
        }
        if let Some(factor) = self.friction_factor {
            for geom in child.world_body_mut().geom_iter_mut(true) {
                geom.friction_mut().iter_mut().for_each(|f| *f *= factor);
            }
        }
        let bodies: Vec<String> = child.body_iter().map(|b| b.name().to_owned()).collect();
        let frame = spec.world_body_mut().add_frame();
        frame.with_pos(self.pose.pos_m).with_quat(self.pose.quat_wxyz);
        let prefix = format!("{name}/");
        let attached = match self.root {
            None => frame.attach_by_deep_copy(child, &prefix, ""),
            Some(root) => {
                let body = child.body_mut(root).ok_or_else(|| {
                    let known = bodies.iter().map(String::as_str);
                    let hint = citrange_core::names::suggestion(root, known);
                    format!("model of {name} has no body \"{root}\" (root in robot.yaml), {hint}")
                })?;
                frame.attach_by_deep_copy(body, &prefix, "")
            }
        };
        attached.map_err(|e| {
            let clash = shared_names(spec, child, &prefix);
            format!("model of {name} cannot be attached: {e}{clash}")
        })
    }
}

/// What names of a hand begin with that is put onto an arm.
pub(crate) const HAND: &str = "hand/";

/// Puts the model of a hand onto a site or body of an arm's.
pub(crate) fn put_on(arm: &mut MjSpec, hand: &mut MjSpec, at: &str) -> Result<(), String> {
    let attached = if let Some(site) = arm.site_mut(at) {
        site.attach_by_deep_copy(hand, HAND, "")
    } else if let Some(body) = arm.body_mut(at) {
        body.add_frame().attach_by_deep_copy(hand, HAND, "")
    } else {
        let sites = arm.site_iter().map(|site| site.name());
        let names: Vec<&str> = sites.chain(arm.body_iter().map(|body| body.name())).collect();
        let hint = citrange_core::names::suggestion(at, names);
        return Err(format!("the arm has no site or body \"{at}\" (hand in robot.yaml), {hint}"));
    };
    attached.map_err(|e| {
        let clash = shared_names(arm, hand, HAND);
        format!("the hand cannot be put onto {at}: {e}{clash}")
    })
}

/// Names that both have, for people who must rename one of them.
fn shared_names(spec: &MjSpec, child: &MjSpec, prefix: &str) -> String {
    let mut both = Vec::new();
    macro_rules! look {
        ($($iter:ident $what:literal),*) => {$(
            let taken: Vec<&str> = spec.$iter().map(|item| item.name()).collect();
            for item in child.$iter() {
                let wanted = format!("{prefix}{}", item.name());
                if !item.name().is_empty() && taken.contains(&wanted.as_str()) {
                    both.push(format!(concat!($what, " \"{}\""), item.name()));
                }
            }
        )*};
    }
    look!(
        body_iter "body", joint_iter "joint", geom_iter "geom", site_iter "site",
        actuator_iter "actuator", tendon_iter "tendon", mesh_iter "mesh",
        material_iter "material", texture_iter "texture", sensor_iter "sensor"
    );
    if both.is_empty() {
        return String::new();
    }
    let more = if both.len() > 5 { ", …" } else { "" };
    both.truncate(5);
    format!("; names that are taken: {}{more}", both.join(", "))
}

/// Gives a name to everything that State or a rig may speak of and that has none.
pub(crate) fn name_all(spec: &mut MjSpec) {
    let mut count = 0;
    name_bodies(spec.world_body_mut(), &mut count);
    for joint in spec.joint_iter_mut() {
        name_one(joint, "joint", &mut count);
    }
    for actuator in spec.actuator_iter_mut() {
        name_one(actuator, "actuator", &mut count);
    }
    for key in spec.key_iter_mut() {
        name_one(key, "key", &mut count);
    }
}

fn name_bodies(parent: &mut MjsBody, count: &mut usize) {
    for body in parent.body_iter_mut() {
        name_one(body, "body", count);
        name_bodies(body, count);
    }
}

fn name_one(item: &mut impl SpecItem, what: &str, count: &mut usize) {
    while item.name().is_empty() {
        *count += 1;
        // A name that is taken is refused; then the next one is tried.
        let _taken = item.set_name(&format!("{what}_{count}"));
    }
}
