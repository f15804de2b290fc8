//! One frame of a simulated depth camera: the truth of a picture, what a sensor makes of it, and
//! what is written beside it.

use std::collections::BTreeMap;

use citrange_cloud::{
    Cloud, CloudFile, DepthImage, Depths, Pinhole, Points as _, Sidecar, View, Workspace,
};
use citrange_core::{CameraState, Pose};
use serde_json::{Value, json};

use crate::compile::CompiledScene;
use crate::depth_sensor::DepthSensor;
use crate::error::SimError;

/// Label of a point that the sensor put between two surfaces.
pub const FLYING: u8 = 254;
/// Label of a pixel without a point.
pub const NOT_SEEN: u8 = 255;

/// The truth of one picture.
#[derive(Clone, Debug)]
pub struct DepthShot {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Depth along the view axis, NaN where nothing is; row by row.
    pub depth_m: Vec<f32>,
    /// Colours.
    pub rgb: Vec<[u8; 3]>,
    /// Where it was taken from.
    pub view: View,
    /// How the camera sees.
    pub pinhole: Pinhole,
}

impl DepthShot {
    /// The picture of a state's first environment; needs colours and depths.
    ///
    /// # Errors
    /// When the state has no such picture.
    pub fn of(seen: &CameraState) -> Result<Self, SimError> {
        let missing = || SimError::Drawing("the camera gave no picture with depths".to_owned());
        let depth = seen.depth.as_ref().ok_or_else(missing)?;
        let rgb = seen.rgb.as_ref().ok_or_else(missing)?;
        let [_, height, width] = *depth.shape() else { return Err(missing()) };
        let k = seen.intrinsics.as_ref().ok_or_else(missing)?;
        // State has pixel centres at halves, clouds at whole numbers.
        let pinhole = Pinhole {
            fx: k[[0, 0, 0]],
            fy: k[[0, 1, 1]],
            cx: k[[0, 0, 2]] - 0.5,
            cy: k[[0, 1, 2]] - 0.5,
        };
        let (pos, quat) = (seen.pos.as_ref().ok_or_else(missing)?, seen.quat_world.as_ref());
        let quat = quat.ok_or_else(missing)?;
        let pose = Pose {
            pos_m: std::array::from_fn(|a| pos[[0, a]]),
            quat_wxyz: std::array::from_fn(|a| quat[[0, a]]),
        };
        Ok(Self {
            width,
            height,
            depth_m: depth.iter().map(|d| if d.is_finite() { *d } else { f32::NAN }).collect(),
            rgb: rgb.iter().copied().collect::<Vec<u8>>().as_chunks().0.to_vec(),
            view: View::forward_x(&pose, Some(pinhole)),
            pinhole,
        })
    }

    /// What the sensor makes of it. Labels say where each point comes from.
    ///
    /// # Errors
    /// When a setting of the sensor is out of range.
    pub fn take(
        &self,
        sensor: &DepthSensor,
        seed: u64,
        mut labels: Vec<u8>,
        stamp_ns: u64,
    ) -> Result<CloudFile, SimError> {
        let mut depth = vec![f32::NAN; self.depth_m.len()];
        sensor.apply(&self.depth_m, self.width, &self.pinhole, seed, &mut depth)?;
        for (label, (seen, truth)) in labels.iter_mut().zip(depth.iter().zip(&self.depth_m)) {
            // Farther off than noise ever is: it flies between two surfaces.
            let noise = 8.0 * sensor.sigma_m(f64::from(*truth), &self.pinhole) + 0.002;
            if seen.is_nan() {
                *label = NOT_SEEN;
            } else if f64::from((seen - truth).abs()) > noise {
                *label = FLYING;
            }
        }
        let image = DepthImage {
            width: self.width,
            height: self.height,
            depths: Depths::Metres(&depth),
            pinhole: self.pinhole,
            rgb: Some(&self.rgb),
            range_m: None,
            stamp_ns,
        };
        let points = image.points()?;
        let (mut x, mut y, mut z) = (depth.clone(), depth.clone(), depth.clone());
        points.fill(0, &mut x, &mut y, &mut z);
        let xyz_m = x.iter().zip(&y).zip(&z).map(|((x, y), z)| [*x, *y, *z]).collect();
        let cloud = Cloud::new(xyz_m, self.rgb.clone(), self.width, stamp_ns)?;
        Ok(CloudFile { cloud, labels: Some(labels), sidecar: Sidecar::default() })
    }

    /// What stands beside the cloud.
    #[must_use]
    pub fn sidecar(&self, robot: Option<(Value, Vec<f64>)>, stamp_ns: u64) -> Value {
        let workspace = Workspace::default();
        let (robot, joints) =
            robot.map_or((Value::Null, Value::Null), |(robot, joints)| (robot, json!(joints)));
        json!({
            "width": self.width,
            "height": self.height,
            "fx": self.pinhole.fx,
            "fy": self.pinhole.fy,
            "cx": self.pinhole.cx,
            "cy": self.pinhole.cy,
            "T_cam_to_world": self.view.matrix(),
            "stamp_ns": stamp_ns,
            "robot": robot,
            "joints": joints,
            "workspace_lower": workspace.lower_m,
            "workspace_upper": workspace.upper_m,
        })
    }
}

impl CompiledScene {
    /// A label per pixel: 0 the surroundings, 1 fixtures, 2 objects, 3 robots.
    #[must_use]
    pub fn labels_of(&self, seen: &CameraState) -> Vec<u8> {
        let label = |owner: &str| {
            let is_robot = self.robot_names().any(|name| name == owner);
            let is_object = self.object_names().any(|name| name == owner);
            if is_robot { 3 } else { 1 + u8::from(is_object) }
        };
        let names = &seen.instance_seg_id2label;
        let labels: BTreeMap<i32, u8> = names.iter().map(|(id, name)| (*id, label(name))).collect();
        let Some(ids) = &seen.instance_seg else { return Vec::new() };
        ids.iter().map(|id| labels.get(id).copied().unwrap_or(0)).collect()
    }
}
