//! Reads a [`Demo`], whatever of it there is.

use std::collections::BTreeMap;
use std::path::Path;

use crate::demo::is_joint_name;
use crate::reader::{Node, Source, or_leave};
use crate::{Array, Attr, Demo, DemoAttrs, FileLayout, Hdf5Error, InitialStateData, Series};

/// Reads one episode. Pictures stay in the file and are read when asked for; keep the file.
///
/// # Errors
/// When the file is not HDF5, not a demo file, damaged, or a dataset has a type or shape that
/// its name does not promise.
pub fn read_demo(path: impl AsRef<Path>) -> Result<Demo, Hdf5Error> {
    let source = Source::open(path.as_ref())?;
    let root = source.root()?;
    match crate::sniff::kind_of(&root)? {
        FileLayout::Demo => {}
        FileLayout::Robomimic => return Err(layout(&source, "a robomimic file".into())),
        FileLayout::Aloha => return Err(layout(&source, "an ALOHA file".into())),
        FileLayout::Other(what) => return Err(layout(&source, what)),
    }
    let mut demo = Demo { attrs: attributes(root.attrs()?), ..Demo::default() };
    let unread = &mut demo.unread;
    root.note_incomplete(unread);
    for name in &root.datasets {
        match name.as_str() {
            "model_xml" => demo.model_xml = or_leave(root.text(name), unread)?,
            "initial_state" => demo.initial_state = or_leave(root.list(name), unread)?,
            "actions" => demo.actions = or_leave(root.numbers(name), unread)?,
            "rewards" => demo.rewards = or_leave(root.list(name), unread)?,
            "dones" => demo.dones = or_leave(root.flags(name), unread)?,
            "timestamps" => demo.timestamps = or_leave(root.list(name), unread)?,
            _ if is_joint_name(name) => {
                let numeric = or_leave(root.is_numeric(name).map(Some), unread)?;
                let list =
                    if numeric == Some(true) { or_leave(root.list(name), unread)? } else { None };
                match (numeric, list) {
                    (_, Some(list)) => drop(demo.named_joints.insert(name.clone(), list)),
                    (Some(false), None) => demo.skipped.push(root.path_of(name)),
                    _ => {}
                }
            }
            _ => demo.skipped.push(root.path_of(name)),
        }
    }
    for name in &root.groups {
        let Some(group) = root.group(name)? else { continue };
        let (skipped, unread) = (&mut demo.skipped, &mut demo.unread);
        match name.as_str() {
            "initial_state_data" => {
                demo.initial_state_data = Some(initial_state(&source, &group, skipped, unread)?);
            }
            "camera_images" => {
                for (name, series) in group.series(skipped, unread)? {
                    match series {
                        Series::Images(images) => drop(demo.cameras.insert(name, images)),
                        Series::Numbers(_) => skipped.push(group.path_of(&name)),
                    }
                }
            }
            "robot_states" => demo.robot_states = arrays(&group, skipped, unread)?,
            "gripper_states" => demo.gripper_states = arrays(&group, skipped, unread)?,
            "observables" => demo.observables = group.series(skipped, unread)?,
            "citrange" => {
                for name in &group.datasets {
                    if let Some(bytes) = group.bytes(name)? {
                        demo.blobs.insert(name.clone(), bytes);
                    }
                }
            }
            _ => skipped.push(root.path_of(name)),
        }
    }
    Ok(demo)
}

fn layout(source: &Source, what: String) -> Hdf5Error {
    let path = source.path().to_owned();
    Hdf5Error::Layout { what, wanted: "single-episode demo file", path }
}

fn attributes(mut found: BTreeMap<String, Attr>) -> DemoAttrs {
    // What does not have the type its name promises stays in `other`.
    fn take<T>(
        found: &mut BTreeMap<String, Attr>,
        name: &str,
        convert: impl Fn(&Attr) -> Option<T>,
    ) -> Option<T> {
        let value = convert(found.get(name)?)?;
        found.remove(name);
        Some(value)
    }
    let text = |a: &Attr| a.text().map(str::to_owned);
    let any = |a: &Attr| Some(a.clone());
    DemoAttrs {
        episode_number: take(&mut found, "episode_number", Attr::int),
        environment: take(&mut found, "environment", text),
        robots: take(&mut found, "robots", text),
        total_steps: take(&mut found, "total_steps", Attr::int),
        start_time: take(&mut found, "start_time", any),
        duration: take(&mut found, "duration", Attr::number),
        success: take(&mut found, "success", Attr::bool),
        randomization_enabled: take(&mut found, "randomization_enabled", Attr::bool),
        randomization_seed: take(&mut found, "randomization_seed", any),
        other: found,
    }
}

fn initial_state(
    source: &Source,
    group: &Node,
    skipped: &mut Vec<String>,
    unread: &mut BTreeMap<String, String>,
) -> Result<InitialStateData, Hdf5Error> {
    group.note_incomplete(unread);
    let mut start = InitialStateData::default();
    for name in &group.datasets {
        match name.as_str() {
            "qpos" => start.qpos = or_leave(group.list(name), unread)?,
            "qvel" => start.qvel = or_leave(group.list(name), unread)?,
            "time" => {
                start.time = or_leave(group.list(name), unread)?.and_then(|t| t.first().copied());
            }
            "body_pos" => {
                let rows = rows(source, group, name, "3 numbers per body");
                start.body_pos = or_leave(rows, unread)?;
            }
            "body_rot" => {
                let rows = rows(source, group, name, "9 numbers per body");
                start.body_rot = or_leave(rows, unread)?;
            }
            "body_names" => start.body_names = or_leave(group.texts(name), unread)?,
            _ => skipped.push(group.path_of(name)),
        }
    }
    skipped.extend(group.groups.iter().map(|name| group.path_of(name)));
    Ok(start)
}

/// A table with N numbers in a row; matrices per row (3 x 3) are fine too.
fn rows<const N: usize>(
    source: &Source,
    group: &Node,
    name: &str,
    wanted: &'static str,
) -> Result<Option<Vec<[f64; N]>>, Hdf5Error> {
    let Some(array) = group.numbers(name)? else { return Ok(None) };
    if array.shape().len() < 2 || array.cols() != N {
        return Err(Hdf5Error::Type {
            object: group.path_of(name),
            found: format!("of shape {:?}", array.shape()),
            wanted,
            path: source.path().to_owned(),
        });
    }
    Ok(Some(array.data().as_chunks().0.to_vec()))
}

fn arrays(
    group: &Node,
    skipped: &mut Vec<String>,
    unread: &mut BTreeMap<String, String>,
) -> Result<BTreeMap<String, Array>, Hdf5Error> {
    let mut all = BTreeMap::new();
    for (name, series) in group.series(skipped, unread)? {
        match series {
            Series::Numbers(array) => drop(all.insert(name, array)),
            Series::Images(_) => skipped.push(group.path_of(&name)),
        }
    }
    Ok(all)
}
