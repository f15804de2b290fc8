//! Its cameras: colours, depths, how they see, and clouds where they are wanted. Pictures are waited
//! for by a thread of their own, never by the arm.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use citrange_cloud::{DepthImage, Depths, Pinhole, message_of, pack_xyz_rgb};
use citrange_core::{CameraImage, Intrinsics};
use citrange_ros::message::{CameraInfo, Header, Image, TfMessage, Time};
use citrange_ros::{Node, Publisher, RosError};
use citrange_sim::SimRig;

use super::tf::world_from_camera;

const CLOUD: [&str; 2] = ["sensor_msgs/PointCloud2", "1158d486dd51d683ce2f1be655c3c181"];
const CLOUD_FIELDS: &str = "Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool \
    is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n";
const POINT_FIELD: &str = "string name\nuint32 offset\nuint8 datatype\nuint32 count\n";

struct Camera {
    frame: String,
    size: [u32; 2],
    pinhole: Pinhole,
    color: Publisher,
    color_info: Publisher,
    depth: Publisher,
    depth_info: Publisher,
    cloud: Option<Publisher>,
}

impl Camera {
    fn is_wanted(&self) -> bool {
        let all = [&self.color, &self.color_info, &self.depth, &self.depth_info];
        all.into_iter().chain(&self.cloud).any(Publisher::is_heard)
    }

    fn publish(&self, image: &CameraImage, stamp: Time) {
        let header = Header { seq: 0, stamp, frame_id: self.frame.clone() };
        let [width, height] = self.size;
        let Pinhole { fx, fy, cx, cy } = self.pinhole;
        let info = CameraInfo::pinhole(header.clone(), self.size, [fx, fy, cx, cy]);
        let rgb = image.rgb.as_ref().and_then(|picture| picture.pixels().ok());
        if let Some(rgb) = rgb.filter(|_| self.color.is_heard()) {
            let (step, data) = (width * 3, rgb.to_vec());
            let encoding = "rgb8".to_owned();
            let picture = Image {
                header: header.clone(),
                height,
                width,
                encoding,
                is_bigendian: 0,
                step,
                data,
            };
            self.color.publish(&picture);
        }
        self.color_info.publish(&info);
        let Some(depth) = image.depth.as_ref().and_then(|depth| depth.pixels().ok()) else {
            return;
        };
        if self.depth.is_heard() {
            // Millimetres; 0 where nothing was measured.
            let mm =
                |m: &f32| if m.is_finite() && *m < 65.5 { (m * 1e3).round() as u16 } else { 0 };
            let data = depth.iter().flat_map(|m| mm(m).to_le_bytes()).collect();
            let encoding = "16UC1".to_owned();
            let step = width * 2;
            let picture = Image { header, height, width, encoding, is_bigendian: 0, step, data };
            self.depth.publish(&picture);
        }
        self.depth_info.publish(&info);
        if let Some(cloud) = self.cloud.as_ref().filter(|cloud| cloud.is_heard()) {
            let colours: Option<&[[u8; 3]]> = rgb.map(|rgb| rgb.as_chunks().0);
            let image = DepthImage {
                width: width as usize,
                height: height as usize,
                depths: Depths::Metres(depth),
                pinhole: self.pinhole,
                rgb: colours,
                range_m: None,
                stamp_ns: stamp.ns(),
            };
            if let Ok(points) = image.points() {
                let data = pack_xyz_rgb(&points);
                cloud.publish_bytes(&message_of(&points, &self.frame, &data).to_ros1());
            }
        }
    }
}

/// All of them.
pub(super) struct Cameras {
    all: Arc<Vec<Camera>>,
    frames: Publisher,
    send: SyncSender<(Vec<CameraImage>, Time)>,
    are_placed: bool,
}

impl Cameras {
    pub(super) fn new(node: &Node, rig: &SimRig, clouds: bool) -> Result<Self, RosError> {
        use citrange_core::Rig as _;
        let mut all = Vec::new();
        for camera in &rig.spec().cameras {
            let topic = |name: &str| format!("/{}/{name}", camera.name);
            let none = Intrinsics { fx: 1.0, fy: 1.0, cx: 0.5, cy: 0.5 };
            let seen = camera.intrinsics.unwrap_or(none);
            let cloud = || {
                let line = "=".repeat(80);
                let header = "uint32 seq\ntime stamp\nstring frame_id\n";
                let text = format!(
                    "{CLOUD_FIELDS}{line}\nMSG: std_msgs/Header\n{header}{line}\nMSG: \
                     sensor_msgs/PointField\n{POINT_FIELD}"
                );
                node.advertise_bytes(&topic("depth/color/points"), CLOUD, text, 1, false)
            };
            let depth = "aligned_depth_to_color";
            all.push(Camera {
                frame: format!("{}_color_optical_frame", camera.name),
                size: [camera.width_px, camera.height_px],
                // Pixels' centres are whole numbers in ROS.
                pinhole: Pinhole { fx: seen.fx, fy: seen.fy, cx: seen.cx - 0.5, cy: seen.cy - 0.5 },
                color: node.advertise::<Image>(&topic("color/image_raw"), 1, false)?,
                color_info: node.advertise::<CameraInfo>(&topic("color/camera_info"), 1, false)?,
                depth: node.advertise::<Image>(&topic(&format!("{depth}/image_raw")), 1, false)?,
                depth_info: node.advertise::<CameraInfo>(
                    &topic(&format!("{depth}/camera_info")),
                    1,
                    false,
                )?,
                cloud: clouds.then(cloud).transpose()?,
            });
        }
        let all = Arc::new(all);
        let frames = node.advertise::<TfMessage>("/tf_static", 1, true)?;
        // One that is drawn, one that waits; a third is left out.
        let (send, pictures) = sync_channel::<(Vec<CameraImage>, Time)>(1);
        let cameras = Arc::clone(&all);
        std::thread::Builder::new()
            .name("ur cameras".into())
            .spawn(move || {
                for (images, stamp) in pictures {
                    cameras.iter().zip(&images).for_each(|(camera, image)| {
                        camera.publish(image, stamp);
                    });
                }
            })
            .map_err(|cause| RosError::Io { what: "a thread for cameras".into(), cause })?;
        Ok(Self { all, frames, send, are_placed: false })
    }

    pub(super) fn are_wanted(&self) -> bool {
        self.all.iter().any(Camera::is_wanted)
    }

    pub(super) fn publish(&mut self, images: Vec<CameraImage>, stamp: Time) {
        if !self.are_placed {
            self.are_placed = true;
            let header = |frame: &str| Header { seq: 0, stamp, frame_id: frame.to_owned() };
            let placed = self.all.iter().zip(&images).filter_map(|(camera, image)| {
                let pose = image.world_from_camera.as_ref()?;
                Some(world_from_camera(pose, camera.frame.clone(), header("world")))
            });
            self.frames.publish(&TfMessage { transforms: placed.collect() });
        }
        let _one_less_when_behind = self.send.try_send((images, stamp));
    }
}
