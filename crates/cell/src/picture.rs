//! What became of a frame, as a picture.

use std::path::Path;

use citrange_render::Image;
use citrange_space::{FramePicture, Pipeline};

use crate::error::CellError;
use crate::reader::CellReader;

/// A frame, drawn.
#[derive(Clone, Debug)]
pub struct DrawnFrame {
    /// Its name.
    pub name: String,
    /// The points with their fates, and the voxels.
    pub image: Image,
    /// Voxels that are left.
    pub voxels: usize,
    /// Groups of them.
    pub clusters: u32,
}

/// Draws what becomes of a frame.
///
/// # Errors
/// When the frame cannot be read or makes no sense.
pub fn draw_frame(reader: &mut CellReader, path: &Path) -> Result<DrawnFrame, CellError> {
    let frame = reader.read(path)?;
    let mut pipeline = Pipeline::new(reader.cell().pipeline.clone())?;
    pipeline.run_with_fates(&frame.cloud, &frame.view.world_from_camera, &frame.robot())?;
    let picture = FramePicture {
        points: &frame.cloud,
        pinhole: frame.view.pinhole,
        world_from_camera: &frame.view.world_from_camera,
        fates: pipeline.fates(),
        frame: pipeline.frame(),
        robot: &frame.shapes,
    };
    let image = picture.draw()?;
    let (voxels, clusters) = (pipeline.frame().voxels.len(), pipeline.frame().clusters);
    Ok(DrawnFrame { name: frame.name, image, voxels, clusters })
}

impl DrawnFrame {
    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), CellError> {
        Ok(self.image.save(path)?)
    }
}
