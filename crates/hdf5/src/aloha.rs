//! One episode in one file as ALOHA keeps it: `observations/qpos`, `observations/qvel`, `action`,
//! a row per step with the joints of all arms, each arm's gripper as a fraction.

use std::collections::BTreeMap;
use std::path::Path;

use crate::reader::{Node, Source, or_leave};
use crate::writer::{GroupParts, Writer};
use crate::{Array, Attr, FileLayout, Hdf5Error};

/// What such a file holds; pictures are left in it.
#[derive(Clone, Debug, Default)]
pub struct AlohaEpisode {
    /// Attributes of the file.
    pub attrs: BTreeMap<String, Attr>,
    /// Joint positions of all arms, a row per step.
    pub qpos: Option<Array>,
    /// Joint targets of all arms, a row per step.
    pub action: Option<Array>,
    /// Names of the cameras whose pictures it has.
    pub cameras: Vec<String>,
    /// Paths of what cannot be read here, and why.
    pub unread: BTreeMap<String, String>,
}

/// Whether a file has the members of this layout.
pub(crate) fn is_aloha(root: &Node) -> Result<bool, Hdf5Error> {
    let Some(seen) = root.group("observations")? else { return Ok(false) };
    Ok(seen.datasets.iter().any(|name| name == "qpos"))
}

/// Reads one episode.
///
/// # Errors
/// When the file is not HDF5, not of this layout, or damaged.
pub fn read_aloha(path: impl AsRef<Path>) -> Result<AlohaEpisode, Hdf5Error> {
    let source = Source::open(path.as_ref())?;
    let root = source.root()?;
    let other = |what: String| Hdf5Error::Layout {
        what,
        wanted: "file with observations/qpos and action",
        path: source.path().to_owned(),
    };
    match crate::sniff::kind_of(&root)? {
        FileLayout::Aloha => {}
        FileLayout::Demo => return Err(other("a single-episode demo file".into())),
        FileLayout::Robomimic => return Err(other("a robomimic file".into())),
        FileLayout::Other(what) => return Err(other(what)),
    }
    let mut episode = AlohaEpisode { attrs: root.attrs()?, ..AlohaEpisode::default() };
    root.note_incomplete(&mut episode.unread);
    episode.action = or_leave(root.numbers("action"), &mut episode.unread)?;
    if let Some(seen) = root.group("observations")? {
        episode.qpos = or_leave(seen.numbers("qpos"), &mut episode.unread)?;
        if let Some(images) = seen.group("images")? {
            episode.cameras.clone_from(&images.datasets);
        }
    }
    Ok(episode)
}

/// Writes one episode without pictures. The file appears when it is complete.
///
/// # Errors
/// When the disk refuses.
pub fn write_aloha(path: impl AsRef<Path>, episode: &AlohaEpisode) -> Result<(), Hdf5Error> {
    let mut out = Writer::create(path.as_ref())?;
    let (mut root, mut seen) = (GroupParts::default(), GroupParts::default());
    if let Some(qpos) = &episode.qpos {
        seen.link("qpos", out.numbers("qpos", qpos)?);
    }
    root.link("observations", out.group("observations", &seen)?);
    if let Some(action) = &episode.action {
        root.link("action", out.numbers("action", action)?);
    }
    for (name, value) in &episode.attrs {
        root.attr(name, Some(value.clone()));
    }
    let root = out.group("/", &root)?;
    out.finish(root)
}
