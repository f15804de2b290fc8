//! Films: pictures side by side, as mp4.

use std::path::{Path, PathBuf};

use citrange_core::Picture;
use citrange_core::rig::CameraSpec;
use citrange_render::Image;
use citrange_tape::Dataset;
use citrange_video::mp4::{self, SampleInfo};
use citrange_video::{Encoder, EncoderSettings};

use crate::context::RunContext;
use crate::error::{Context as _, EpisodesError, Result};

/// A film being made; all coded pictures are in memory, a megabyte or two per minute.
#[derive(Debug)]
pub struct Film {
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
    ///
    /// # Errors
    /// When there is no camera, or no folder for the film.
    pub fn begin(path: &Path, cameras: &[CameraSpec], fps: u32) -> Result<Self> {
        if cameras.is_empty() {
            return Err(EpisodesError::Failed("the scene has no camera to film with".into()));
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
    ///
    /// # Errors
    /// When it cannot be drawn or coded.
    pub fn add<'a>(&mut self, pictures: impl Iterator<Item = &'a Picture>) -> Result<()> {
        let image = |(picture, (width, height)): (&Picture, &(usize, usize))| {
            let rgb = picture.pixels()?.to_vec();
            Ok(Image { width: *width, height: *height, rgb })
        };
        let images = pictures.zip(&self.cameras).map(image);
        let images = images.collect::<Result<Vec<_>>>()?;
        self.add_image(&Image::sheet(&images, images.len()))
    }

    /// Pictures so far.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.samples.len()
    }

    /// Adds one picture; all must be of one size.
    ///
    /// # Errors
    /// When it cannot be coded.
    pub fn add_image(&mut self, image: &Image) -> Result<()> {
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            none => {
                self.size = (image.width as u32, image.height as u32);
                let settings =
                    EncoderSettings { fps: self.fps, gop: self.fps, ..EncoderSettings::default() };
                none.insert(Encoder::new(self.size.0, self.size.1, settings)?)
            }
        };
        let sample = encoder.encode(&image.rgb)?;
        self.infos.push(SampleInfo { size: sample.data.len() as u32, key: sample.key });
        self.samples.push(sample.data.to_vec());
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<()> {
        let path = self.path.clone();
        self.finish_as(&path)
    }

    /// Writes the file under another name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish_as(self, path: &Path) -> Result<()> {
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

/// Films an episode of a dataset, all cameras side by side; says whether there was a camera.
///
/// # Errors
/// When its pictures cannot be read or the film cannot be written.
pub fn film_episode(
    dataset: &Dataset,
    cameras: &[String],
    episode: usize,
    path: &Path,
    ctx: RunContext<'_>,
) -> Result<bool> {
    let films: Vec<_> =
        cameras.iter().map(|camera| dataset.pictures(episode, camera)).collect::<Result<_, _>>()?;
    let specs: Vec<_> = cameras
        .iter()
        .zip(&films)
        .map(|(name, film)| CameraSpec::rgb(name, film.width() as u32, film.height() as u32))
        .collect();
    let frames = films.iter().map(|film| film.frames()).min().unwrap_or(0);
    if frames == 0 {
        return Ok(false);
    }
    let mut film = Film::begin(path, &specs, dataset.lerobot.info().fps)?;
    let bar = ctx.progress("filming", frames as u64);
    for frame in 0..frames {
        let image = |film: &citrange_hdf5::Images| {
            let rgb = film.frame(frame)?;
            Ok(Image { width: film.width(), height: film.height(), rgb })
        };
        let images = films.iter().map(image).collect::<Result<Vec<_>>>()?;
        film.add_image(&Image::sheet(&images, images.len()))?;
        bar.set(frame as u64 + 1);
    }
    bar.finish();
    film.finish()?;
    Ok(true)
}
