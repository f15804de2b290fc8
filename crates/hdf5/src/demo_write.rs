//! Writes a [`Demo`].

use std::collections::BTreeMap;
use std::path::Path;

use crate::demo::is_joint_name;
use crate::encode::ElementType;
use crate::writer::{GroupParts, Writer};
use crate::{Array, Attr, Compression, Demo, Hdf5Error, InitialStateData, Series};

/// Writes one episode; pictures are deflated. The file appears when it is complete.
///
/// # Errors
/// When the disk refuses, a picture is missing, or a name cannot be stored.
pub fn write_demo(path: impl AsRef<Path>, demo: &Demo) -> Result<(), Hdf5Error> {
    write_demo_with(path, demo, Compression::default())
}

/// [`write_demo`] with a choice of how pictures are stored.
///
/// # Errors
/// As [`write_demo`].
pub fn write_demo_with(
    path: impl AsRef<Path>,
    demo: &Demo,
    compression: Compression,
) -> Result<(), Hdf5Error> {
    let mut out = Writer::create(path.as_ref())?;
    let mut root = GroupParts::default();
    attributes(&mut root, demo);
    if let Some(xml) = &demo.model_xml {
        root.link("model_xml", out.text("model_xml", xml)?);
    }
    if let Some(start) = &demo.initial_state_data {
        root.link("initial_state_data", initial_state(&mut out, start)?);
    }
    let lists = [
        ("initial_state", &demo.initial_state),
        ("rewards", &demo.rewards),
        ("timestamps", &demo.timestamps),
    ];
    for (name, values) in lists {
        if let Some(values) = values {
            root.link(name, out.list(name, values)?);
        }
    }
    for (name, values) in &demo.named_joints {
        if !is_joint_name(name) {
            let why = "names of joint datasets end in _qpos or _joint_pos";
            return Err(Hdf5Error::Unstorable { object: name.clone(), why });
        }
        root.link(name, out.list(name, values)?);
    }
    if let Some(actions) = &demo.actions {
        root.link("actions", out.numbers("actions", actions)?);
    }
    if let Some(dones) = &demo.dones {
        let dims = [dones.len() as u64];
        let bytes = dones.iter().map(|&d| [u8::from(d)]);
        root.link("dones", out.dataset("dones", ElementType::Bool, Some(&dims), bytes)?);
    }
    if !demo.cameras.is_empty() {
        let mut group = GroupParts::default();
        for (name, images) in &demo.cameras {
            group.link(name, out.images(name, images, compression)?);
        }
        root.link("camera_images", out.group("camera_images", &group)?);
    }
    states(&mut out, &mut root, "robot_states", &demo.robot_states)?;
    states(&mut out, &mut root, "gripper_states", &demo.gripper_states)?;
    if !demo.observables.is_empty() {
        let group = series(&mut out, &demo.observables, compression, false)?;
        root.link("observables", out.group("observables", &group)?);
    }
    if !demo.blobs.is_empty() {
        let mut group = GroupParts::default();
        for (name, bytes) in &demo.blobs {
            let dims = [bytes.len() as u64];
            let whole = std::iter::once(bytes);
            group.link(name, out.dataset(name, ElementType::U8, Some(&dims), whole)?);
        }
        root.link("citrange", out.group("citrange", &group)?);
    }
    let root = out.group("/", &root)?;
    out.finish(root)
}

fn attributes(root: &mut GroupParts, demo: &Demo) {
    let attrs = &demo.attrs;
    root.attr("episode_number", attrs.episode_number.map(Attr::Int));
    root.attr("environment", attrs.environment.clone().map(Attr::Text));
    root.attr("robots", attrs.robots.clone().map(Attr::Text));
    root.attr("total_steps", attrs.total_steps.map(Attr::Int));
    root.attr("start_time", attrs.start_time.clone());
    root.attr("duration", attrs.duration.map(Attr::Float));
    root.attr("success", attrs.success.map(Attr::Bool));
    root.attr("randomization_enabled", attrs.randomization_enabled.map(Attr::Bool));
    root.attr("randomization_seed", attrs.randomization_seed.clone());
    for (name, value) in &attrs.other {
        // A known name with a value of its own type wins.
        if !root.attrs.iter().any(|(known, _)| known == name) {
            root.attr(name, Some(value.clone()));
        }
    }
}

fn initial_state(out: &mut Writer, start: &InitialStateData) -> Result<u64, Hdf5Error> {
    let mut group = GroupParts::default();
    for (name, values) in [("qpos", &start.qpos), ("qvel", &start.qvel)] {
        if let Some(values) = values {
            group.link(name, out.list(name, values)?);
        }
    }
    if let Some(time) = start.time {
        group.link("time", out.numbers("time", &Array::new(vec![], vec![time])?)?);
    }
    if let Some(rows) = &start.body_pos {
        let rows = Array::matrix(rows.len(), 3, rows.concat())?;
        group.link("body_pos", out.numbers("body_pos", &rows)?);
    }
    if let Some(rows) = &start.body_rot {
        let rows = Array::matrix(rows.len(), 9, rows.concat())?;
        group.link("body_rot", out.numbers("body_rot", &rows)?);
    }
    if let Some(names) = &start.body_names {
        group.link("body_names", out.texts("body_names", names)?);
    }
    out.group("initial_state_data", &group)
}

fn states(
    out: &mut Writer,
    root: &mut GroupParts,
    name: &str,
    states: &BTreeMap<String, Array>,
) -> Result<(), Hdf5Error> {
    if states.is_empty() {
        return Ok(());
    }
    let mut group = GroupParts::default();
    for (key, array) in states {
        group.link(key, out.numbers(key, array)?);
    }
    group.attr("keys", Some(Attr::Texts(states.keys().cloned().collect())));
    root.link(name, out.group(name, &group)?);
    Ok(())
}

/// Writes numbers and pictures as members of a group to come.
pub(crate) fn series(
    out: &mut Writer,
    all: &BTreeMap<String, Series>,
    compression: Compression,
    single: bool,
) -> Result<GroupParts, Hdf5Error> {
    let mut group = GroupParts::default();
    for (name, series) in all {
        let address = match series {
            Series::Numbers(array) if single => out.singles(name, array)?,
            Series::Numbers(array) => out.numbers(name, array)?,
            Series::Images(images) => out.images(name, images, compression)?,
        };
        group.link(name, address);
    }
    Ok(group)
}
