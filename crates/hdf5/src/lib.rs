//! Demonstrations in HDF5, in the two layouts that people exchange.
//!
//! No C library is needed. Files are read and written by h5py and its friends.
//!
//! # One episode in one file
//! A [`Demo`] keeps the start of an episode in every way it may be restored, what was done, and
//! what was seen. [`write_demo`] and [`read_demo`]; every part is optional.
//!
//! ```
//! use citrange_hdf5::{Array, Demo, read_demo, write_demo};
//!
//! let mut demo = Demo::default();
//! demo.attrs.success = Some(true);
//! demo.initial_state = Some(vec![0.0, 0.1, -0.2]);
//! demo.actions = Some(Array::matrix(2, 1, vec![0.5, 0.25])?);
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join(citrange_hdf5::demo_file_name(3, 1_773_500_966));
//! write_demo(&path, &demo)?;
//!
//! let back = read_demo(&path)?;
//! assert_eq!(back.initial_state, demo.initial_state);
//! assert_eq!(back.actions, demo.actions);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Many episodes in one file
//! robomimic's layout, and robosuite's, which is a part of it. A [`RobomimicWriter`] takes one
//! [`RobomimicDemo`] after the other; [`read_robomimic`] lists them and reads them on demand.
//! [`sniff`] says which layout a file has.
//!
//! # Numbers and pictures
//! Numbers are f64 here and on disk, and come back bit for bit; narrower types of other writers
//! are widened. Pictures ([`Images`]) are asked for one at a time, when written and when read,
//! so an episode of them need not fit in memory. They are deflated one by one, or stored as
//! they are ([`Compression`]).
//!
//! # Limits
//! Files are written from front to back and not changed afterwards; one that was not finished
//! does not appear. Reading: all versions of the format, any chunking, gzip, shuffle,
//! Fletcher-32, h5py's LZF; not virtual datasets or links to other files, which are named in
//! `unread`. Attributes and datasets of types unknown here (compounds, references) are left out;
//! datasets are named in `skipped`.

mod aloha;
mod array;
mod chunks;
mod decode;
mod demo;
mod demo_read;
mod demo_write;
mod encode;
mod error;
mod frames;
mod images;
mod lzf;
mod reader;
mod robomimic;
mod robomimic_read;
mod robomimic_write;
mod sniff;
mod writer;

pub use aloha::{AlohaEpisode, read_aloha, write_aloha};
pub use array::{Array, Attr, Series};
pub use demo::{Demo, DemoAttrs, InitialStateData, demo_file_name};
pub use demo_read::read_demo;
pub use demo_write::{write_demo, write_demo_with};
pub use error::Hdf5Error;
pub use images::Images;
pub use robomimic::{RobomimicDemo, RobomimicHeader};
pub use robomimic_read::{RobomimicFile, read_robomimic};
pub use robomimic_write::RobomimicWriter;
pub use sniff::{FileLayout, NOT_HDF5, sniff};
pub use writer::Compression;

use robomimic::is_demo_name;
