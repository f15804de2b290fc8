//! Clouds in messages of a recording: PointCloud2 and pictures of depths.

use crate::cloud::{Cloud, Points as _};
use crate::depth_file::{self, DepthCamera, DepthNumbers, MILLIMETRE_M};
use crate::error::CloudError;
use crate::message::PointCloud2Message;
use crate::messages::{CompressedImage, ImageMessage, MessageHeader, RosMessage};
use crate::pixel_order::CameraModel;
use crate::recording::{Channel, RecordedMessage};

/// A cloud as it was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCloud {
    /// The points; with the stamp of the message's header.
    pub cloud: Cloud,
    /// Frame that they are in.
    pub frame_id: String,
    /// Whether the message was a picture of depths.
    pub is_depth: bool,
}

/// Whether messages of a channel are clouds, or may be: pictures say only themselves whether they
/// are of depths.
#[must_use]
pub fn carries_clouds(channel: &Channel) -> bool {
    channel.is_of(PointCloud2Message::TYPE)
        || channel.is_of(ImageMessage::TYPE)
        || channel.is_of(CompressedImage::TYPE)
}

impl RecordedCloud {
    /// The cloud of a message; none where it is a picture of something else. Pictures of depths
    /// need to know how their `camera` sees.
    ///
    /// # Errors
    /// Names the topic, and what is wrong with the message.
    pub fn of(
        message: &RecordedMessage,
        camera: Option<&CameraModel>,
    ) -> Result<Option<Self>, CloudError> {
        let channel = &message.channel;
        if channel.is_of(PointCloud2Message::TYPE) {
            let sent: PointCloud2Message<'_> = message.decode()?;
            let view = sent.cloud().points()?;
            let mut cloud = Cloud::of_points(&view);
            if view.has_rgb() {
                cloud.rgb = (0..view.len()).map(|index| view.rgb(index)).collect();
            }
            let frame_id = sent.frame_id.clone();
            return Ok(Some(Self { cloud, frame_id, is_depth: false }));
        }
        if channel.is_of(ImageMessage::TYPE) {
            let sent: ImageMessage<'_> = message.decode()?;
            if !sent.is_depth() {
                return Ok(None);
            }
            let size = [sent.width as usize, sent.height as usize];
            return Self::of_depths(channel, sent.header.clone(), size, &sent.depths()?, camera);
        }
        if channel.is_of(CompressedImage::TYPE) {
            let sent: CompressedImage<'_> = message.decode()?;
            if !sent.is_depth() {
                return Ok(None);
            }
            let (size, depths) = sent.depths()?;
            return Self::of_depths(channel, sent.header, size, &depths, camera);
        }
        Ok(None)
    }

    /// The frame that a message's points are in, without reading them; none where it is no cloud.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn frame_of(message: &RecordedMessage) -> Result<Option<String>, CloudError> {
        let channel = &message.channel;
        if channel.is_of(PointCloud2Message::TYPE) {
            return Ok(Some(message.decode::<PointCloud2Message<'_>>()?.frame_id));
        }
        if channel.is_of(ImageMessage::TYPE) {
            let sent: ImageMessage<'_> = message.decode()?;
            return Ok(sent.is_depth().then_some(sent.header.frame_id));
        }
        if channel.is_of(CompressedImage::TYPE) {
            let sent: CompressedImage<'_> = message.decode()?;
            return Ok(sent.is_depth().then_some(sent.header.frame_id));
        }
        Ok(None)
    }

    fn of_depths(
        channel: &Channel,
        header: MessageHeader,
        size: [usize; 2],
        depths: &DepthNumbers,
        camera: Option<&CameraModel>,
    ) -> Result<Option<Self>, CloudError> {
        let camera = DepthCamera { model: camera, scale_m: MILLIMETRE_M };
        let what = format!("topic {}", channel.topic);
        let mut cloud = depth_file::points(&what, size, depths, camera)?.cloud;
        cloud.stamp_ns = header.stamp_ns;
        Ok(Some(Self { cloud, frame_id: header.frame_id, is_depth: true }))
    }
}
