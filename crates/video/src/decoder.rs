//! H.264 samples in, pictures out.

use openh264::OpenH264API;
use openh264::decoder::{DecodedYUV, DecoderConfig, Flush};
use openh264::formats::YUVSource;

use crate::VideoError;
use crate::nal::AvcConfig;
use crate::planes::write_rgb;

/// Decodes H.264 without B-frames: each sample gives its picture at once.
pub struct Decoder {
    inner: openh264::decoder::Decoder,
    config: AvcConfig,
    /// The decoder has not seen the parameter sets, or lost its way since.
    fresh: bool,
    packet: Vec<u8>,
}

impl Decoder {
    /// A decoder for samples that belong to this `avcC` payload.
    ///
    /// # Errors
    /// When the payload is damaged.
    pub fn new(avc_config: &[u8]) -> Result<Self, VideoError> {
        let config = AvcConfig::parse(avc_config)?;
        let options = DecoderConfig::new().flush_after_decode(Flush::NoFlush);
        let inner =
            openh264::decoder::Decoder::with_api_config(OpenH264API::from_source(), options)
                .map_err(|e| VideoError::Decode(e.to_string()))?;
        Ok(Self { inner, config, fresh: true, packet: Vec::new() })
    }

    /// Decodes the next sample into `rgb` (rgb8, row by row) and gives width and height.
    ///
    /// The first sample must be a key frame, and so must the first after an error or a jump.
    ///
    /// # Errors
    /// When the sample is damaged, or gives no picture.
    pub fn decode(&mut self, sample: &[u8], rgb: &mut Vec<u8>) -> Result<(u32, u32), VideoError> {
        let picture = self.decode_planes(sample)?;
        let (width, height) = picture.dimensions();
        if !write_rgb(&picture, rgb) {
            return Err(VideoError::Decode("the picture is shorter than its size".into()));
        }
        Ok((width as u32, height as u32))
    }

    pub(crate) fn decode_planes(&mut self, sample: &[u8]) -> Result<DecodedYUV<'_>, VideoError> {
        self.packet.clear();
        if self.fresh {
            self.config.write_parameter_sets(&mut self.packet);
        }
        self.fresh = true;
        self.config.write_sample(sample, &mut self.packet)?;
        let picture = self
            .inner
            .decode(&self.packet)
            .map_err(|e| VideoError::Decode(e.to_string()))?
            .ok_or_else(|| VideoError::Decode("a sample gave no picture".into()))?;
        self.fresh = false;
        Ok(picture)
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("config", &self.config).finish_non_exhaustive()
    }
}
