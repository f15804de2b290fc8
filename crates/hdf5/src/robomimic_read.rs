//! Reads robomimic files, and robosuite's own, which hold only states, actions and models.

use std::collections::BTreeMap;
use std::path::Path;

use crate::reader::{Node, Source, or_leave};
use crate::robomimic::demo_number;
use crate::{Attr, FileLayout, Hdf5Error, RobomimicDemo, RobomimicHeader};

/// An open file of demonstrations.
pub struct RobomimicFile {
    source: Source,
    data: Node,
    /// What the demonstrations share.
    pub header: RobomimicHeader,
    /// Steps in all demonstrations, if the file says so.
    pub total: Option<i64>,
    /// Names of the demonstrations, in the order of their numbers.
    pub demos: Vec<String>,
    /// Named parts: `train`, `valid`, …
    pub masks: BTreeMap<String, Vec<String>>,
}

/// Opens a file of demonstrations. They are read one at a time, when asked for.
///
/// # Errors
/// When the file is not HDF5, damaged, or has no demonstrations.
pub fn read_robomimic(path: impl AsRef<Path>) -> Result<RobomimicFile, Hdf5Error> {
    let source = Source::open(path.as_ref())?;
    let root = source.root()?;
    let layout = |what: &str| Hdf5Error::Layout {
        what: what.to_owned(),
        wanted: "robomimic file with data/demo_0, …",
        path: source.path().to_owned(),
    };
    match crate::sniff::kind_of(&root)? {
        FileLayout::Robomimic => {}
        FileLayout::Demo => return Err(layout("a single-episode demo file")),
        FileLayout::Aloha => return Err(layout("an ALOHA file")),
        FileLayout::Other(what) => return Err(layout(&what)),
    }
    let Some(data) = root.group("data")? else { return Err(layout("no group `data`")) };
    let mut attrs = data.attrs()?;
    let total = attrs.remove("total").and_then(|a| a.int());
    let mut text = |name: &str| take_text(&mut attrs, name);
    let header = RobomimicHeader {
        env: text("env"),
        env_info: text("env_info"),
        env_args: text("env_args"),
        repository_version: text("repository_version"),
        date: text("date"),
        time: text("time"),
        other: attrs,
    };
    let mut demos: Vec<String> =
        data.groups.iter().filter(|name| demo_number(name).is_some()).cloned().collect();
    demos.sort_by_key(|name| demo_number(name));
    let mut masks = BTreeMap::new();
    if let Some(mask) = root.group("mask")? {
        for name in &mask.datasets {
            let texts = or_leave(mask.texts(name), &mut BTreeMap::new())?;
            masks.insert(name.clone(), texts.unwrap_or_default());
        }
    }
    Ok(RobomimicFile { source, data, header, total, demos, masks })
}

/// Takes an attribute out of the map if it is text.
fn take_text(attrs: &mut BTreeMap<String, Attr>, name: &str) -> Option<String> {
    let text = attrs.get(name)?.text()?.to_owned();
    attrs.remove(name);
    Some(text)
}

impl RobomimicFile {
    /// Reads demonstration `index` of [`RobomimicFile::demos`]. Pictures stay in the file.
    ///
    /// # Errors
    /// When there is no such demonstration, it is damaged, or a part has a type that its name
    /// does not promise.
    pub fn read_demo(&self, index: usize) -> Result<RobomimicDemo, Hdf5Error> {
        let missing = || Hdf5Error::NoSuchDemo {
            index,
            count: self.demos.len(),
            path: self.source.path().to_owned(),
        };
        let name = self.demos.get(index).ok_or_else(missing)?;
        let group = self.data.group(name)?.ok_or_else(missing)?;
        let mut attrs = group.attrs()?;
        attrs.remove("num_samples"); // follows from the data
        let mut demo = RobomimicDemo {
            model_file: take_text(&mut attrs, "model_file"),
            ep_meta: take_text(&mut attrs, "ep_meta"),
            attrs,
            ..RobomimicDemo::default()
        };
        group.note_incomplete(&mut demo.unread);
        for name in &group.datasets {
            match name.as_str() {
                "states" => demo.states = or_leave(group.numbers(name), &mut demo.unread)?,
                "actions" => demo.actions = or_leave(group.numbers(name), &mut demo.unread)?,
                "rewards" => demo.rewards = or_leave(group.list(name), &mut demo.unread)?,
                "dones" => demo.dones = or_leave(group.flags(name), &mut demo.unread)?,
                _ => demo.skipped.push(group.path_of(name)),
            }
        }
        for name in &group.groups {
            let Some(members) = group.group(name)? else { continue };
            let (skipped, unread) = (&mut demo.skipped, &mut demo.unread);
            match name.as_str() {
                "obs" => demo.obs = members.series(skipped, unread)?,
                "next_obs" => demo.next_obs = members.series(skipped, unread)?,
                _ => demo.skipped.push(group.path_of(name)),
            }
        }
        Ok(demo)
    }
}
