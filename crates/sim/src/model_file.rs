//! A model of somebody's is opened: MJCF or URDF, checked, everything in it named, and servos made
//! where its description wants them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use citrange_core::RobotDescription;
use citrange_core::robot::HandModel;
use mujoco_rs::prelude::*;
use roxmltree::Document;

use crate::attach::{HAND, name_all, put_on};
use crate::catalog::{ModelSource, RobotSource};
use crate::model_limits;
use crate::servos::{make_servos, set_shared_gains};
use crate::urdf::{self, JointFacts};

/// An opened model, ready to be attached.
#[derive(Debug)]
pub(crate) struct ModelFile {
    pub(crate) spec: MjSpec,
    /// What was done differently, for people.
    pub(crate) notes: Vec<String>,
    joints: BTreeMap<String, JointFacts>,
    is_file: bool,
    path: PathBuf,
}

/// What was read of a robot's model file and is not in the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) notes: Vec<String>,
    pub(crate) joints: BTreeMap<String, JointFacts>,
}

impl ModelFile {
    /// The model of a robot, with a hand where it has one; `gains` is the set that a scene asks
    /// for.
    pub(crate) fn open(
        name: &str,
        robot: &RobotSource,
        hand: Option<&HandModel>,
        gains: Option<&str>,
    ) -> Result<Self, String> {
        match &robot.model {
            ModelSource::Text(text) => {
                let spec =
                    MjSpec::from_xml_string(text).map_err(|e| format!("model of {name}: {e}"))?;
                Ok(Self {
                    spec,
                    notes: Vec::new(),
                    joints: BTreeMap::new(),
                    is_file: false,
                    path: PathBuf::new(),
                })
            }
            ModelSource::File(path) => {
                let folder = robot.folder.as_deref().unwrap_or(Path::new(""));
                let packages = robot.description.iter().flat_map(|d| &d.packages);
                let packages: Vec<PathBuf> = packages.map(|p| folder.join(p)).collect();
                let mut file = Self::open_file(name, path, &packages)?;
                let hand = hand.or(robot.description.as_ref().and_then(|d| d.hand.as_ref()));
                if let Some(hand) = hand {
                    file.put_on(&folder.join(&hand.model), &hand.at, &packages)?;
                }
                if let Some(description) = &robot.description {
                    file.with_servos(name, path, description, gains)?;
                }
                Ok(file)
            }
        }
    }

    /// Any model from a file.
    pub(crate) fn open_file(name: &str, path: &Path, packages: &[PathBuf]) -> Result<Self, String> {
        let fail = |reason: String| format!("model of {name} ({}): {reason}", path.display());
        let text = model_limits::read(path).map_err(fail)?;
        let document = parsed(&text).map_err(fail)?;
        let mut file = if urdf::is_urdf(&document) {
            let urdf = urdf::read(path, &document, packages).map_err(fail)?;
            Self {
                spec: urdf.spec,
                notes: urdf.notes,
                joints: urdf.joints,
                is_file: true,
                path: path.to_owned(),
            }
        } else {
            model_limits::check(path, &document).map_err(fail)?;
            let spec = MjSpec::from_xml(path).map_err(|e| fail(e.to_string()))?;
            Self {
                spec,
                notes: Vec::new(),
                joints: BTreeMap::new(),
                is_file: true,
                path: path.to_owned(),
            }
        };
        name_all(&mut file.spec);
        Ok(file)
    }

    fn put_on(&mut self, path: &Path, at: &str, packages: &[PathBuf]) -> Result<(), String> {
        let mut hand = Self::open_file("the hand", path, packages)?;
        // The engine looks for the files of both in the folder of one.
        absolute_files(&mut self.spec, &self.path);
        absolute_files(&mut hand.spec, path);
        put_on(&mut self.spec, &mut hand.spec, at)?;
        self.notes.append(&mut hand.notes);
        let joints = hand.joints.into_iter();
        self.joints.extend(joints.map(|(joint, facts)| (format!("{HAND}{joint}"), facts)));
        Ok(())
    }

    fn with_servos(
        &mut self,
        name: &str,
        path: &Path,
        description: &RobotDescription,
        gains: Option<&str>,
    ) -> Result<(), String> {
        if description.servos.is_empty() {
            return Ok(());
        }
        let fail = |reason: String| format!("model of {name} ({}): {reason}", path.display());
        let mut copy = self.spec.try_clone().map_err(|e| fail(e.to_string()))?;
        let alone = copy.compile().map_err(|e| fail(e.to_string()))?;
        let made = make_servos(&mut self.spec, &alone, description).map_err(fail)?;
        if let Some(set) = gains.and_then(|gains| description.servos.get(gains)) {
            set_shared_gains(&mut self.spec, &alone, description, set);
        }
        if !made.is_empty() {
            let joints = made.join(", ");
            self.notes.push(format!("position servos made from servos.default for {joints}"));
        }
        Ok(())
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin { notes: self.notes.clone(), joints: self.joints.clone() }
    }

    /// Whether it is somebody's file, not a model of ours.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_file
    }
}

/// Names the files of meshes and textures by their whole paths.
fn absolute_files(spec: &mut MjSpec, model: &Path) {
    let whole = std::path::absolute(model).unwrap_or_else(|_| model.to_owned());
    let folder = whole.parent().unwrap_or(Path::new("/")).to_owned();
    let meshes = folder.join(spec.compiler().meshdir());
    let textures = folder.join(spec.compiler().texturedir());
    let whole = |folder: &Path, file: &str| {
        let wanted = !file.is_empty() && Path::new(file).is_relative();
        wanted.then(|| folder.join(file).to_string_lossy().into_owned())
    };
    for mesh in spec.mesh_iter_mut() {
        if let Some(file) = whole(&meshes, mesh.file()) {
            mesh.set_file(&file);
        }
    }
    for field in spec.hfield_iter_mut() {
        if let Some(file) = whole(&meshes, field.file()) {
            field.set_file(&file);
        }
    }
    for texture in spec.texture_iter_mut() {
        if let Some(file) = whole(&textures, texture.file()) {
            texture.set_file(&file);
        }
    }
}

fn parsed(text: &str) -> Result<Document<'_>, String> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: false,
        nodes_limit: model_limits::MOST_NODES,
        ..roxmltree::ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|e| format!("not well-formed XML: {e}"))
}
