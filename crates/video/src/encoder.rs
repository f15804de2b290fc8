//! Pictures in, H.264 samples out: one of them for each, never more, never fewer.

use openh264::OpenH264API;
use openh264::encoder::{
    BitRate, Complexity, EncoderConfig, FrameRate, IntraFramePeriod, Profile, QpRange,
    RateControlMode, SpsPpsStrategy, UsageType, VuiConfig,
};
use openh264::formats::YUVSource;

use crate::VideoError;
use crate::nal;
use crate::planes::Planes;

/// How to encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncoderSettings {
    /// Frames per second, 1 to 1000.
    pub fps: u32,
    /// Quantisation, the same in every frame: 12 (best) to 51 (smallest). 22 gives about 39 dB.
    pub qp: u8,
    /// A key frame every so many frames, from 1. Small is quick to seek, large is small on disk.
    pub gop: u32,
}

impl Default for EncoderSettings {
    fn default() -> Self {
        Self { fps: 30, qp: 22, gop: 5 }
    }
}

/// One encoded picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// NAL units, each after its length in four bytes, as mp4 keeps them. No parameter sets.
    pub data: &'a [u8],
    /// Whether decoding can begin here.
    pub key: bool,
}

/// Encodes the pictures of one camera, on the caller's thread.
pub struct Encoder {
    inner: openh264::encoder::Encoder,
    planes: Planes,
    size: [u32; 2],
    gop: u32,
    /// Frames since the last key frame; `None`: the next frame is one.
    since_key: Option<u32>,
    has_picture: bool,
    avc_config: Option<Vec<u8>>,
    sample: Vec<u8>,
}

impl Encoder {
    /// An encoder for pictures of one size.
    ///
    /// # Errors
    /// When a side is odd, below 16 or too large, or a setting is out of its range.
    pub fn new(width: u32, height: u32, settings: EncoderSettings) -> Result<Self, VideoError> {
        let (long, short) = (width.max(height), width.min(height));
        if !width.is_multiple_of(2)
            || !height.is_multiple_of(2)
            || short < 16
            || long > 3840
            || short > 2160
        {
            return Err(VideoError::Size { width, height });
        }
        let in_range = |name, value, min, max| match value {
            _ if (min..=max).contains(&value) => Ok(()),
            _ => Err(VideoError::Setting { name, value, min, max }),
        };
        in_range("fps", settings.fps, 1, 1000)?;
        in_range("qp", u32::from(settings.qp), 12, 51)?;
        in_range("gop", settings.gop, 1, 30_000)?;
        // "Buffer based" with one QP is a constant QP: no frame is skipped, no bits are counted
        // and no complexity is measured, and nothing is warned about.
        let config = EncoderConfig::new()
            .skip_frames(false)
            .rate_control_mode(RateControlMode::Bufferbased)
            .qp(QpRange::new(settings.qp, settings.qp))
            .bitrate(BitRate::from_bps(1_000_000))
            .max_frame_rate(FrameRate::from_hz(settings.fps.min(60) as f32))
            .usage_type(UsageType::CameraVideoRealTime)
            .complexity(Complexity::Low)
            .profile(Profile::Baseline)
            .sps_pps_strategy(SpsPpsStrategy::ConstantId)
            .scene_change_detect(false)
            .adaptive_quantization(false)
            .background_detection(false)
            .long_term_reference(false)
            // Key frames are asked for one by one.
            .intra_frame_period(IntraFramePeriod::auto())
            .num_threads(1)
            .vui(VuiConfig::bt601());
        let inner = openh264::encoder::Encoder::with_api_config(OpenH264API::from_source(), config)
            .map_err(|e| VideoError::Encode(e.to_string()))?;
        Ok(Self {
            inner,
            planes: Planes::new(width as usize, height as usize),
            size: [width, height],
            gop: settings.gop,
            since_key: None,
            has_picture: false,
            avc_config: None,
            sample: Vec::new(),
        })
    }

    /// Encodes the next picture: rgb8, row by row from the top, `width * height * 3` bytes.
    ///
    /// # Errors
    /// When the picture has another length, or the encoder fails.
    pub fn encode(&mut self, rgb: &[u8]) -> Result<Sample<'_>, VideoError> {
        let [width, height] = self.size;
        if rgb.len() != width as usize * height as usize * 3 {
            return Err(VideoError::PictureLength { found: rgb.len(), width, height });
        }
        self.planes.read_rgb(rgb);
        self.has_picture = true;
        self.next()
    }

    /// Encodes the last picture once more, for example in place of one that never came.
    ///
    /// # Errors
    /// When there was none, or the encoder fails.
    pub fn repeat(&mut self) -> Result<Sample<'_>, VideoError> {
        if !self.has_picture {
            return Err(VideoError::NothingToRepeat);
        }
        self.next()
    }

    /// Encodes a picture that is in planes already.
    pub(crate) fn encode_planes(
        &mut self,
        picture: &impl YUVSource,
    ) -> Result<Sample<'_>, VideoError> {
        if !self.planes.copy_from(picture) {
            let (width, height) = picture.dimensions();
            return Err(VideoError::Encode(format!("a picture of {width}x{height} came between")));
        }
        self.has_picture = true;
        self.next()
    }

    /// Makes the next frame a key frame and counts from there.
    pub fn restart(&mut self) {
        self.since_key = None;
    }

    /// The `avcC` payload of an mp4; known after the first frame, the same ever after.
    #[must_use]
    pub fn avc_config(&self) -> Option<&[u8]> {
        self.avc_config.as_deref()
    }

    fn next(&mut self) -> Result<Sample<'_>, VideoError> {
        let position = self.since_key.map_or(0, |n| (n + 1) % self.gop);
        let key = position == 0;
        if key && self.avc_config.is_some() {
            self.inner.force_intra_frame();
        }
        // Until this frame is out whole, the next one has to be a key frame.
        self.since_key = None;
        let stream =
            self.inner.encode(&self.planes).map_err(|e| VideoError::Encode(e.to_string()))?;
        self.sample.clear();
        let (mut sps, mut pps) = (None, None);
        let mut slices = [0; 2];
        let layers = (0..stream.num_layers()).filter_map(|i| stream.layer(i));
        for layer in layers {
            for unit in (0..layer.nal_count()).filter_map(|i| layer.nal_unit(i)) {
                let unit = nal::without_start_code(unit);
                match nal::kind(unit) {
                    Some(nal::SPS) => sps = Some(unit.to_vec()),
                    Some(nal::PPS) => pps = Some(unit.to_vec()),
                    Some(kind @ (nal::SLICE | nal::KEY_SLICE)) => {
                        slices[usize::from(kind == nal::KEY_SLICE)] += 1;
                        self.sample.extend_from_slice(&(unit.len() as u32).to_be_bytes());
                        self.sample.extend_from_slice(unit);
                    }
                    _ => {}
                }
            }
        }
        let fail = |what: &str| Err(VideoError::Encode(what.to_owned()));
        match (slices, key) {
            ([0, 0], _) => return fail("no bytes came back for a picture"),
            ([0, _], true) | ([_, 0], false) => {}
            (_, true) => return fail("a key frame was due and another came"),
            (_, false) => return fail("a key frame came too early"),
        }
        if let (Some(sps), Some(pps)) = (sps, pps) {
            let config = nal::avc_config(&sps, &pps);
            match &self.avc_config {
                Some(known) if *known != config => return fail("its parameter sets changed"),
                _ => self.avc_config = Some(config),
            }
        } else if self.avc_config.is_none() {
            return fail("the first frame came without parameter sets");
        }
        self.since_key = Some(position);
        Ok(Sample { data: &self.sample, key })
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").field("size", &self.size).field("gop", &self.gop).finish()
    }
}
