//! A URDF becomes a model: packages and meshes found, everything seen kept, joints that mimic
//! others tied to them, and servos made from the limits.

mod dae;
mod packages;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use mujoco_rs::mujoco_c::mjtEq;
use mujoco_rs::prelude::*;
use mujoco_rs::wrappers::mj_editing::{MjsBody, MjsGeom};
use roxmltree::{Document, Node};

use crate::layout::{Joint, joints_of};
use crate::servos::{add_servo, made_gains};

pub(crate) use dae::Triangles;
pub(crate) use packages::Packages;

/// Geoms of this group are collision shapes: they are not drawn.
const COLLISION_GROUP: i32 = 3;
/// Missing files that are named.
const NAMED: usize = 3;
/// Overlap at the start beyond which two links are taken as made to touch.
const OVERLAP_M: f64 = 0.001;
/// What our readers of meshes understand, and the engine's.
const MESHES: [&str; 4] = ["stl", "obj", "msh", "dae"];

/// What a URDF says of a joint that a model has no place for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JointFacts {
    /// Largest speed, rad/s or m/s.
    pub(crate) velocity: Option<f64>,
}

/// A URDF that was read.
#[derive(Debug)]
pub(crate) struct Urdf {
    pub(crate) spec: MjSpec,
    /// What was done differently, for people.
    pub(crate) notes: Vec<String>,
    pub(crate) joints: BTreeMap<String, JointFacts>,
}

/// A joint that goes with another.
struct Mimic<'a> {
    joint: &'a str,
    of: &'a str,
    multiplier: f64,
    offset: f64,
}

/// Whether a text is a URDF: its root is a `robot`.
pub(crate) fn is_urdf(document: &Document<'_>) -> bool {
    document.root_element().has_tag_name("robot")
}

/// Reads a URDF; `folders`: where packages are looked for beside the usual places.
pub(crate) fn read(
    path: &Path,
    document: &Document<'_>,
    folders: &[PathBuf],
) -> Result<Urdf, String> {
    let robot = document.root_element();
    let is_xacro =
        |n: &Node<'_, '_>| n.tag_name().namespace().is_some_and(|uri| uri.contains("xacro"));
    if let Some(node) = robot.descendants().find(is_xacro) {
        return Err(format!(
            "<xacro:{}> in line {}: it is a xacro, not a URDF yet; expand it with `xacro {} > \
             robot.urdf`",
            node.tag_name().name(),
            document.text_pos_at(node.range().start).row,
            path.display()
        ));
    }
    let mut notes = Vec::new();
    let packages = Packages::new(path, folders);
    let (text, drawn) = with_files(document, &packages, &mut notes)?;
    let mut spec = MjSpec::from_xml_string(&text).map_err(|e| e.to_string())?;
    for mesh in spec.mesh_iter_mut() {
        let Some(triangles) = drawn.get(mesh.file()) else { continue };
        mesh.set_file("");
        mesh.set_uservert(&triangles.points_m);
        mesh.set_userface(&triangles.corners);
    }
    hide_collision_shapes(spec.world_body_mut());
    let mimics: Vec<Mimic<'_>> = robot.children().filter_map(mimic).collect();
    for mimic in &mimics {
        tie(&mut spec, mimic)?;
    }
    exclude_neighbours(&mut spec, &robot);
    let joints = robot.children().filter(|n| n.has_tag_name("joint"));
    let joints: BTreeMap<String, Node<'_, '_>> =
        joints.filter_map(|n| Some((n.attribute("name")?.to_owned(), n))).collect();
    let model = compiled(&spec)?;
    exclude_touching(&mut spec, &model, &mut notes);
    add_servos(&mut spec, &model, &joints, &mut notes)?;
    let facts = joints.into_iter().map(|(name, node)| {
        let velocity = limit(node, "velocity").filter(|v| *v > 0.0);
        (name, JointFacts { velocity })
    });
    Ok(Urdf { spec, notes, joints: facts.collect() })
}

fn compiled(spec: &MjSpec) -> Result<MjModel, String> {
    let mut copy = spec.try_clone().map_err(|e| e.to_string())?;
    copy.compile().map_err(|e| e.to_string())
}

/// The text with the paths of its files where they are and with our settings of the engine's
/// compiler; and the meshes that the engine cannot read itself, by the name that stands for them.
fn with_files(
    document: &Document<'_>,
    packages: &Packages,
    notes: &mut Vec<String>,
) -> Result<(String, BTreeMap<String, Triangles>), String> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    let mut drawn = BTreeMap::new();
    let mut unread = 0;
    let compiler = document.descendants().find(|n| n.has_tag_name("compiler"));
    let mesh_folder = compiler.and_then(|n| n.attribute("meshdir")).unwrap_or_default();
    for mesh in document.descendants().filter(|n| n.has_tag_name("mesh")) {
        let Some(file) = mesh.attribute_node("filename") else { continue };
        let line = document.text_pos_at(mesh.range().start).row;
        let Some(found) = packages.find(file.value(), mesh_folder) else {
            missing.push(format!("{} (line {line})", file.value()));
            continue;
        };
        let kind = found.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
        if kind == "dae" {
            let name = format!("{}.obj", found.display());
            if !drawn.contains_key(&name) {
                let triangles = Triangles::read(&found)
                    .map_err(|reason| format!("line {line}: {}: {reason}", found.display()))?;
                drawn.insert(name.clone(), triangles);
            }
            edits.push((file.range_value(), escaped(&name)));
        } else if MESHES.contains(&kind.as_str()) {
            edits.push((file.range_value(), escaped(&found.to_string_lossy())));
        } else {
            // What cannot be read goes, and is counted; the rest of the link stays.
            unread += 1;
            let part =
                mesh.ancestors().find(|n| n.has_tag_name("visual") || n.has_tag_name("collision"));
            edits.push((part.unwrap_or(mesh).range(), String::new()));
        }
    }
    if !missing.is_empty() {
        let more = if missing.len() > NAMED { ", …" } else { "" };
        let count = missing.len();
        missing.truncate(NAMED);
        return Err(format!(
            "{count} meshes are not found: {}{more}; looked in {}. Put the packages' folder into \
             ROS_PACKAGE_PATH or into `packages:` of robot.yaml",
            missing.join(", "),
            packages.searched()
        ));
    }
    if unread > 0 {
        notes.push(format!(
            "{unread} meshes are of a kind that is not read (STL, OBJ, DAE are): left out"
        ));
    }
    edits.extend(compiler_settings(document, compiler));
    Ok((edited(document.input_text(), edits), drawn))
}

/// Our settings of the engine's compiler, under those that the file has.
fn compiler_settings(
    document: &Document<'_>,
    compiler: Option<Node<'_, '_>>,
) -> Vec<(Range<usize>, String)> {
    let mut settings = BTreeMap::from([
        ("discardvisual", "false"),
        ("fusestatic", "false"),
        ("balanceinertia", "true"),
        ("boundmass", "1e-4"),
        ("boundinertia", "1e-7"),
    ]);
    for attribute in compiler.iter().flat_map(Node::attributes) {
        settings.insert(attribute.name(), attribute.value());
    }
    // Meshes are named by where they are.
    settings.insert("strippath", "false");
    settings.remove("meshdir");
    let list: Vec<String> =
        settings.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
    let element = format!("<compiler {}/>", list.join(" "));
    let engine = document.root_element().children().find(|n| n.has_tag_name("mujoco"));
    match (compiler, engine) {
        (Some(compiler), _) => vec![(compiler.range(), element)],
        (None, Some(engine)) => vec![(engine.range(), format!("<mujoco>{element}</mujoco>"))],
        (None, None) => {
            // Behind the root's opening tag.
            let first = document.root_element().first_child().map(|n| n.range().start);
            let at = first.unwrap_or(document.root_element().range().end);
            vec![(at..at, format!("<mujoco>{element}</mujoco>"))]
        }
    }
}

fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, new) in edits {
        // What lies in something that went is gone with it.
        if range.start >= from {
            out.push_str(&text[from..range.start]);
            out.push_str(&new);
            from = range.end;
        }
    }
    out.push_str(&text[from..]);
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Bodies that have something to be seen do not show what they collide with.
fn hide_collision_shapes(parent: &mut MjsBody) {
    for body in parent.body_iter_mut() {
        let is_solid = |geom: &MjsGeom| geom.contype() != 0 || geom.conaffinity() != 0;
        let is_seen = body.geom_iter(false).any(|geom| !is_solid(geom));
        for geom in body.geom_iter_mut(false) {
            if is_solid(geom) && is_seen {
                geom.set_group(COLLISION_GROUP);
            }
        }
        hide_collision_shapes(body);
    }
}

fn mimic<'a>(joint: Node<'a, '_>) -> Option<Mimic<'a>> {
    let mimic = joint.children().find(|n| n.has_tag_name("mimic"))?;
    let number = |key: &str, usual: f64| {
        mimic.attribute(key).and_then(|n| n.trim().parse().ok()).unwrap_or(usual)
    };
    Some(Mimic {
        joint: joint.attribute("name")?,
        of: mimic.attribute("joint")?,
        multiplier: number("multiplier", 1.0),
        offset: number("offset", 0.0),
    })
}

fn tie(spec: &mut MjSpec, mimic: &Mimic<'_>) -> Result<(), String> {
    for name in [mimic.joint, mimic.of] {
        if spec.joint(name).is_none() {
            return Err(format!(
                "joint {} mimics {}: there is no joint {name}",
                mimic.joint, mimic.of
            ));
        }
    }
    if spec.equality_iter().any(|e| e.name1() == mimic.joint && e.type_() == mjtEq::mjEQ_JOINT) {
        return Ok(());
    }
    let equality = spec.add_equality();
    equality.set_type(mjtEq::mjEQ_JOINT);
    equality.set_name1(mimic.joint);
    equality.set_name2(mimic.of);
    let data = equality.data_mut();
    data.fill(0.0);
    (data[0], data[1]) = (mimic.offset, mimic.multiplier);
    Ok(())
}

/// Links that a joint connects may overlap, also where one of them is fixed to the world.
fn exclude_neighbours(spec: &mut MjSpec, robot: &Node<'_, '_>) {
    let link = |joint: Node<'_, '_>, end: &str| {
        let node = joint.children().find(|n| n.has_tag_name(end))?;
        node.attribute("link").map(str::to_owned)
    };
    for joint in robot.children().filter(|n| n.has_tag_name("joint")) {
        if let (Some(one), Some(other)) = (link(joint, "parent"), link(joint, "child"))
            && spec.body(&one).is_some()
            && spec.body(&other).is_some()
            && one != "world"
        {
            exclude(spec, &one, &other);
        }
    }
}

fn exclude(spec: &mut MjSpec, one: &str, other: &str) {
    let pair = spec.add_exclude();
    pair.set_bodyname1(one);
    pair.set_bodyname2(other);
}

/// Links that overlap as they are built overlap for good: their shapes are coarser than they.
fn exclude_touching(spec: &mut MjSpec, model: &MjModel, notes: &mut Vec<String>) {
    let mut data = MjData::new(model);
    let (_, joints) = joints_of(model, &(1..model.ffi().nbody as usize));
    for joint in &joints {
        if let Some([low, high]) = joint.range.filter(|[low, high]| low <= high) {
            let at = data.qpos()[joint.qpos];
            data.qpos_mut()[joint.qpos] = at.clamp(low, high);
        }
    }
    data.step1();
    let mut pairs = Vec::new();
    for contact in data.contact() {
        let [a, b] = contact.geom.map(|g| usize::try_from(g).ok());
        let (Some(a), Some(b)) = (a, b) else { continue };
        let [a, b] = [a, b].map(|geom| model.geom_bodyid()[geom] as usize);
        let pair = (a.min(b), a.max(b));
        if contact.dist < -OVERLAP_M && pair.0 > 0 && !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let name = |body: usize| model.id_to_name(MjtObjBase::mjOBJ_BODY, body).unwrap_or_default();
    for (a, b) in &pairs {
        exclude(spec, name(*a), name(*b));
    }
    if let Some((a, b)) = pairs.first() {
        notes.push(format!(
            "{} pairs of links overlap as built and may pass through each other ({} and {}{})",
            pairs.len(),
            name(*a),
            name(*b),
            if pairs.len() > 1 { ", …" } else { "" }
        ));
    }
}

fn limit(joint: Node<'_, '_>, key: &str) -> Option<f64> {
    let limit = joint.children().find(|n| n.has_tag_name("limit"))?;
    limit.attribute(key)?.trim().parse().ok().filter(|n: &f64| n.is_finite())
}

/// A position servo for every joint that does not follow another.
fn add_servos(
    spec: &mut MjSpec,
    model: &MjModel,
    known: &BTreeMap<String, Node<'_, '_>>,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let (_, joints) = joints_of(model, &(1..model.ffi().nbody as usize));
    let follows = |joint: &Joint| known.get(&joint.name).is_some_and(|node| mimic(*node).is_some());
    let mut made = 0;
    for joint in &joints {
        let Some(node) = known.get(&joint.name) else { continue };
        if joint.drive.is_some() || joint.motor.is_some() || follows(joint) {
            continue;
        }
        let effort = limit(*node, "effort").filter(|effort| *effort > 0.0);
        let gains = made_gains(model.dof_m0()[joint.dof], effort);
        add_servo(spec, &joint.name, gains, effort, joint.range)?;
        made += 1;
    }
    if made > 0 {
        notes.push(format!("{made} position servos made from the limits and masses of the joints"));
    }
    Ok(())
}
