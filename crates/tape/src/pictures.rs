//! Pictures of a dataset's episode, decoded one at a time.

use std::sync::{Mutex, PoisonError};

use citrange_core::png::{self, RgbPicture};
use citrange_hdf5::Images;
use citrange_lerobot::Column;
use citrange_video::mp4::Movie;
use citrange_video::{Decoder, VideoError};

use crate::dataset::{Dataset, PICTURES};
use crate::error::TapeError;

impl Dataset {
    /// Names of the cameras whose pictures the dataset keeps.
    #[must_use]
    pub fn camera_names(&self) -> Vec<String> {
        let features = self.lerobot.info().features.iter();
        features.filter_map(|(key, _)| key.strip_prefix(PICTURES)).map(str::to_owned).collect()
    }

    /// The pictures of an episode by one camera; they are decoded when asked for, best in order.
    ///
    /// # Errors
    /// When there is no such episode or camera, or its film cannot be decoded here.
    pub fn pictures(&self, episode: usize, camera: &str) -> Result<Images, TapeError> {
        self.check_episode(episode)?;
        let key = format!("{PICTURES}{camera}");
        if self.lerobot.info().features.video_keys().any(|known| known == key) {
            return self.film(episode, &key);
        }
        let rows = self.lerobot.read_episode(episode)?;
        let Some(Column::Png(pngs)) = rows.column(&key) else {
            let (root, known) = (self.root().display(), self.camera_names());
            let known = citrange_core::names::suggestion(camera, known.iter().map(String::as_str));
            return Err(TapeError::Missing(format!(
                "{root} has no pictures of camera \"{camera}\", {known}"
            )));
        };
        let first = pngs.first().map(Vec::as_slice).unwrap_or_default();
        let RgbPicture { width, height, .. } = png::decode(first).map_err(|e| {
            TapeError::Refused(format!("episode {episode}, camera {camera}, frame 0: {e}"))
        })?;
        let pngs = pngs.clone();
        Ok(Images::from_fn(pngs.len(), height, width, move |index, out| {
            let png = pngs.get(index).ok_or("there is no such picture")?;
            let picture = png::decode(png).map_err(|e| e.to_string())?;
            take(&picture.rgb, out)
        })?)
    }

    fn film(&self, episode: usize, key: &str) -> Result<Images, TapeError> {
        let video = self.lerobot.video_of(episode, key)?;
        let movie = Movie::open(&video.path)?;
        let unreadable = |what: &str| {
            TapeError::Refused(format!(
                "{}: {what}; only H.264 without B-frames is decoded here",
                video.path.display()
            ))
        };
        let config = movie.avc_config().ok_or_else(|| unreadable(&movie.codec))?.to_vec();
        if !movie.is_in_order() {
            return Err(unreadable("its frames are out of order"));
        }
        let (height, width) = (movie.format.height as usize, movie.format.width as usize);
        let first = video.first_frame;
        let player = Mutex::new(Player { movie, config, decoder: None, next: 0 });
        Ok(Images::from_fn(video.count, height, width, move |index, out| {
            let mut player = player.lock().unwrap_or_else(PoisonError::into_inner);
            let rgb = player.frame(first.saturating_add(index)).map_err(|e| e.to_string())?;
            take(&rgb, out)
        })?)
    }
}

fn take(rgb: &[u8], out: &mut [u8]) -> Result<(), String> {
    if rgb.len() != out.len() {
        return Err(format!("it has {} bytes, the first had {}", rgb.len(), out.len()));
    }
    out.copy_from_slice(rgb);
    Ok(())
}

/// A film being read: in order without detours, elsewhere from the key frame before.
struct Player {
    movie: Movie,
    config: Vec<u8>,
    decoder: Option<Decoder>,
    next: usize,
}

impl Player {
    fn frame(&mut self, wanted: usize) -> Result<Vec<u8>, VideoError> {
        if self.decoder.is_none() || wanted != self.next {
            let is_key = |f: &usize| self.movie.samples.get(*f).is_some_and(|s| s.key);
            self.next = (0..=wanted).rev().find(is_key).unwrap_or(0);
            self.decoder = None;
        }
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            none => none.insert(Decoder::new(&self.config)?),
        };
        let (mut sample, mut rgb) = (Vec::new(), Vec::new());
        while self.next <= wanted {
            self.movie.read_sample(self.next, &mut sample)?;
            decoder.decode(&sample, &mut rgb)?;
            self.next += 1;
        }
        Ok(rgb)
    }
}
