//! Films: pictures side by side, as mp4.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use citrange_core::Picture;
use citrange_core::rig::CameraSpec;
use citrange_render::Image;
use citrange_video::mp4::{self, SampleInfo};
use citrange_video::{Encoder, Settings};

/// A film being made; all coded pictures are in memory, a megabyte or two per minute.
pub(crate) struct Film {
    path: PathBuf,
    cameras: Vec<(usize, usize)>,
    fps: u32,
    encoder: Option<Encoder>,
    size: (u32, u32),
    samples: Vec<Vec<u8>>,
    infos: Vec<SampleInfo>,
}

impl Film {
    /// A film of these cameras, side by side.
    pub(crate) fn begin(path: &Path, cameras: &[CameraSpec], fps: u32) -> anyhow::Result<Self> {
        if cameras.is_empty() {
            anyhow::bail!("the scene has no camera to film with");
        }
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let cameras = cameras.iter().map(|c| (c.width_px as usize, c.height_px as usize));
        Ok(Self {
            path: path.to_owned(),
            cameras: cameras.collect(),
            fps,
            encoder: None,
            size: (0, 0),
            samples: Vec::new(),
            infos: Vec::new(),
        })
    }

    /// Adds a picture of every camera.
    pub(crate) fn add(&mut self, pictures: &[Picture]) -> anyhow::Result<()> {
        let image = |(picture, (width, height)): (&Picture, &(usize, usize))| {
            let rgb = picture.pixels()?.to_vec();
            Ok(Image { width: *width, height: *height, rgb })
        };
        let images = pictures.iter().zip(&self.cameras).map(image);
        let images = images.collect::<anyhow::Result<Vec<_>>>()?;
        self.add_image(&Image::sheet(&images, images.len()))
    }

    /// Adds one picture; all must be of one size.
    pub(crate) fn add_image(&mut self, image: &Image) -> anyhow::Result<()> {
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            none => {
                self.size = (image.width as u32, image.height as u32);
                let settings = Settings { fps: self.fps, gop: self.fps, ..Settings::default() };
                none.insert(Encoder::new(self.size.0, self.size.1, settings)?)
            }
        };
        let sample = encoder.encode(&image.rgb)?;
        self.infos.push(SampleInfo { size: sample.data.len() as u32, key: sample.key });
        self.samples.push(sample.data.to_vec());
        Ok(())
    }

    /// Writes the file.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let path = self.path.clone();
        self.finish_as(&path)
    }

    /// Writes the file under another name.
    pub(crate) fn finish_as(self, path: &Path) -> anyhow::Result<()> {
        let Some(config) = self.encoder.as_ref().and_then(Encoder::avc_config) else {
            return Ok(());
        };
        let format = mp4::avc_format(self.size.0, self.size.1, self.fps, config);
        mp4::write(path, &format, &self.infos, |index, buffer| {
            buffer.clear();
            buffer.extend_from_slice(&self.samples[index]);
            Ok(())
        })?;
        Ok(())
    }
}
