//! Which layout a file has.

use std::path::Path;

use crate::demo::is_joint_name;
use crate::reader::{Node, Source};
use crate::{Hdf5Error, is_demo_name};

/// What [`FileLayout::Other`] says of a file that is not HDF5 at all.
pub const NOT_HDF5: &str = "not an HDF5 file";

/// The layout of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileLayout {
    /// One episode: [`crate::read_demo`].
    Demo,
    /// Several episodes under `data/demo_<n>`: [`crate::read_robomimic`].
    Robomimic,
    /// One episode of several arms: [`crate::read_aloha`].
    Aloha,
    /// Something else; what, in words.
    Other(String),
}

/// Says which layout a file has, from the names in it.
///
/// # Errors
/// When the file cannot be opened, or its root cannot be read. A file that is not HDF5 is
/// [`FileLayout::Other`].
pub fn sniff(path: impl AsRef<Path>) -> Result<FileLayout, Hdf5Error> {
    match Source::open(path.as_ref()) {
        Ok(source) => kind_of(&source.root()?),
        Err(Hdf5Error::NotHdf5 { .. }) => Ok(FileLayout::Other(NOT_HDF5.into())),
        Err(error) => Err(error),
    }
}

pub(crate) fn kind_of(root: &Node) -> Result<FileLayout, Hdf5Error> {
    const DATASETS: [&str; 6] =
        ["model_xml", "initial_state", "actions", "rewards", "dones", "timestamps"];
    const GROUPS: [&str; 3] = ["initial_state_data", "camera_images", "robot_states"];
    if let Some(data) = root.group("data")?
        && data.groups.iter().any(|name| is_demo_name(name))
    {
        return Ok(FileLayout::Robomimic);
    }
    if crate::aloha::is_aloha(root)? {
        return Ok(FileLayout::Aloha);
    }
    let has = |list: &[String], known: &[&str]| list.iter().any(|n| known.contains(&n.as_str()));
    if has(&root.datasets, &DATASETS)
        || has(&root.groups, &GROUPS)
        || root.datasets.iter().any(|name| is_joint_name(name))
    {
        return Ok(FileLayout::Demo);
    }
    let names: Vec<&str> =
        root.groups.iter().chain(&root.datasets).map(String::as_str).take(8).collect();
    Ok(FileLayout::Other(match &names[..] {
        [] => "an HDF5 file without members".into(),
        names => format!("an HDF5 file with {}", names.join(", ")),
    }))
}
