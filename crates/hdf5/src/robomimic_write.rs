//! Writes robomimic files, one demonstration at a time.

use std::path::Path;

use crate::demo_write::series;
use crate::encode::ElementType;
use crate::writer::{GroupParts, Writer};
use crate::{Attr, Compression, Hdf5Error, RobomimicDemo, RobomimicHeader};

/// A robomimic file in the making. It appears when [`RobomimicWriter::finish`] is called;
/// dropped before, it leaves nothing behind.
pub struct RobomimicWriter {
    out: Writer,
    compression: Compression,
    single: bool,
    header: RobomimicHeader,
    data: GroupParts,
    mask: GroupParts,
    total: i64,
}

impl RobomimicWriter {
    /// Starts a file.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(path: impl AsRef<Path>, header: &RobomimicHeader) -> Result<Self, Hdf5Error> {
        Ok(Self {
            out: Writer::create(path.as_ref())?,
            compression: Compression::default(),
            single: false,
            header: header.clone(),
            data: GroupParts::default(),
            mask: GroupParts::default(),
            total: 0,
        })
    }

    /// Chooses how pictures are stored.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Stores numbers of observations in single precision, as SO-101 recordings of this shape do.
    #[must_use]
    pub fn single_precision(mut self) -> Self {
        self.single = true;
        self
    }

    /// Writes the next demonstration and gives back its name: `demo_0`, `demo_1`, …
    ///
    /// # Errors
    /// When its parts do not have the same number of steps, a picture is missing, or the disk
    /// refuses. The file cannot be continued after that.
    pub fn add(&mut self, demo: &RobomimicDemo) -> Result<String, Hdf5Error> {
        let name = format!("demo_{}", self.data.links.len());
        check_steps(&name, demo)?;
        let out = &mut self.out;
        let mut group = GroupParts::default();
        for (key, array) in [("states", &demo.states), ("actions", &demo.actions)] {
            if let Some(array) = array {
                group.link(key, out.numbers(key, array)?);
            }
        }
        if let Some(rewards) = &demo.rewards {
            group.link("rewards", out.list("rewards", rewards)?);
        }
        if let Some(dones) = &demo.dones {
            let dims = [dones.len() as u64];
            let numbers = dones.iter().map(|&d| i64::from(d).to_le_bytes());
            group.link("dones", out.dataset("dones", ElementType::I64, Some(&dims), numbers)?);
        }
        for (key, all) in [("obs", &demo.obs), ("next_obs", &demo.next_obs)] {
            if !all.is_empty() {
                let members = series(out, all, self.compression, self.single)?;
                group.link(key, out.group(key, &members)?);
            }
        }
        let steps = demo.steps() as i64;
        group.attr("num_samples", Some(Attr::Int(steps)));
        group.attr("model_file", demo.model_file.clone().map(Attr::Text));
        group.attr("ep_meta", demo.ep_meta.clone().map(Attr::Text));
        others(&mut group, &demo.attrs);
        self.data.link(&name, out.group(&name, &group)?);
        self.total += steps;
        Ok(name)
    }

    /// Names a part of the demonstrations, such as `train` or `valid`.
    ///
    /// # Errors
    /// When a demonstration is not in the file, or the disk refuses.
    pub fn mask(&mut self, name: &str, demos: &[impl AsRef<str>]) -> Result<(), Hdf5Error> {
        let known = |demo: &str| self.data.links.iter().any(|(name, _)| name == demo);
        if let Some(stranger) = demos.iter().map(AsRef::as_ref).find(|d| !known(d)) {
            let wanted = match self.data.links.len() {
                0 => "demonstrations added before".to_owned(),
                n => format!("names from demo_0 to demo_{}", n - 1),
            };
            return Err(Hdf5Error::shape(&format!("mask/{name}"), stranger, wanted));
        }
        let width = demos.iter().map(|d| d.as_ref().len()).max().unwrap_or(1);
        let dims = [demos.len() as u64];
        let padded = demos.iter().map(|demo| {
            let mut bytes = demo.as_ref().as_bytes().to_vec();
            bytes.resize(width, 0);
            bytes
        });
        let kind = ElementType::Bytes(width as u32);
        let address = self.out.dataset(name, kind, Some(&dims), padded)?;
        self.mask.link(name, address);
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(self) -> Result<(), Hdf5Error> {
        let Self { mut out, header, mut data, mask, total, .. } = self;
        let texts = [
            ("env", header.env),
            ("env_info", header.env_info),
            ("env_args", header.env_args),
            ("repository_version", header.repository_version),
            ("date", header.date),
            ("time", header.time),
        ];
        for (name, text) in texts {
            data.attr(name, text.map(Attr::Text));
        }
        data.attr("total", Some(Attr::Int(total)));
        others(&mut data, &header.other);
        let mut root = GroupParts::default();
        root.link("data", out.group("data", &data)?);
        if !mask.links.is_empty() {
            root.link("mask", out.group("mask", &mask)?);
        }
        let root = out.group("/", &root)?;
        out.finish(root)
    }
}

/// Adds attributes whose names are not taken.
fn others<'a>(group: &mut GroupParts, attrs: impl IntoIterator<Item = (&'a String, &'a Attr)>) {
    for (name, value) in attrs {
        if !group.attrs.iter().any(|(known, _)| known == name) {
            group.attr(name, Some(value.clone()));
        }
    }
}

fn check_steps(name: &str, demo: &RobomimicDemo) -> Result<(), Hdf5Error> {
    let steps = demo.steps();
    let obs = demo.obs.iter().map(|(key, s)| (format!("obs/{key}"), s.rows()));
    let next = demo.next_obs.iter().map(|(key, s)| (format!("next_obs/{key}"), s.rows()));
    let own = [
        ("states", demo.states.as_ref().map(|a| a.rows())),
        ("actions", demo.actions.as_ref().map(|a| a.rows())),
        ("rewards", demo.rewards.as_ref().map(Vec::len)),
        ("dones", demo.dones.as_ref().map(Vec::len)),
    ];
    let own = own.into_iter().filter_map(|(key, rows)| Some((key.to_owned(), rows?)));
    for (key, rows) in own.chain(obs).chain(next) {
        if rows != steps {
            let object = format!("{name}/{key}");
            return Err(Hdf5Error::shape(&object, format!("{rows} steps"), format!("{steps}")));
        }
    }
    Ok(())
}
