//! How a camera sees.

use super::RosMessage;
use super::header::MessageHeader;
use crate::cloud::Pinhole;
use crate::distortion::Distortion;
use crate::error::CloudError;
use crate::pixel_order::CameraModel;
use crate::wire::{WireReader, WireWriter};

/// `sensor_msgs/CameraInfo`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraInfo {
    /// When, and in which frame the camera looks along +z.
    pub header: MessageHeader,
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
    /// `plumb_bob`, `rational_polynomial`, …; empty where there is none.
    pub distortion_model: String,
    /// Its numbers.
    pub d: Vec<f64>,
    /// Intrinsics of the picture as taken: fx 0 cx 0 fy cy 0 0 1.
    pub k: [f64; 9],
    /// Rotation to the rectified picture.
    pub r: [f64; 9],
    /// Intrinsics of the rectified picture, 3 rows of 4.
    pub p: [f64; 12],
    /// Pixels put together, across and down; 0 is 1.
    pub binning: [u32; 2],
    /// Part of the picture that is sent: x offset, y offset, height, width; all 0 is all of it.
    pub roi: [u32; 4],
    /// Whether the part is of the rectified picture.
    pub do_rectify: bool,
}

impl CameraInfo {
    /// How the pixels of the camera's pictures see, as far as clouds know lenses.
    ///
    /// # Errors
    /// When it is not calibrated, or its lens is of a kind that is not known.
    pub fn model(&self) -> Result<CameraModel, CloudError> {
        let bad = |reason: String| CloudError::bad("CameraInfo", reason);
        let [fx, _, cx, _, fy, cy, ..] = self.k;
        if !(fx > 0.0 && fy > 0.0 && [fx, fy, cx, cy].iter().all(|v| v.is_finite())) {
            return Err(bad(format!("the camera is not calibrated: K is {:?}", self.k)));
        }
        let bends = self.d.iter().any(|d| *d != 0.0);
        let known = ["", "plumb_bob", "rational_polynomial"];
        if bends && !known.contains(&self.distortion_model.as_str()) {
            let reason = format!(
                "distortion_model is \"{}\", must be plumb_bob or rational_polynomial",
                self.distortion_model
            );
            return Err(bad(reason));
        }
        let distortion = if bends { Distortion::new(&self.d)? } else { Distortion::default() };
        // Binned and cut pictures: K is of the whole one.
        let [bin_x, bin_y] = self.binning.map(|bin| f64::from(bin.max(1)));
        let [x, y, height, width] = self.roi;
        let [whole_width, whole_height] = [self.width, self.height];
        let cut = width > 0 && height > 0;
        let size = if cut { [width, height] } else { [whole_width, whole_height] };
        let [left, top] = if cut { [x, y].map(f64::from) } else { [0.0; 2] };
        // A binned pixel's centre is the middle of its pixels.
        let middle = |at: f64, first: f64, bin: f64| (at - first + 0.5) / bin - 0.5;
        let pinhole = Pinhole {
            fx: fx / bin_x,
            fy: fy / bin_y,
            cx: middle(cx, left, bin_x),
            cy: middle(cy, top, bin_y),
        };
        let bins = [self.binning[0].max(1), self.binning[1].max(1)];
        let size_px = [(size[0] / bins[0]) as usize, (size[1] / bins[1]) as usize];
        Ok(CameraModel { pinhole, distortion, size_px: Some(size_px) })
    }
}

impl RosMessage<'_> for CameraInfo {
    const TYPE: [&'static str; 2] = ["sensor_msgs", "CameraInfo"];
    const WHAT: &'static str = "CameraInfo message";
    const ROS1_MD5: &'static str = "c9a58c1b0b154e0e6da7578cb991d214";

    fn read(reader: &mut WireReader<'_>) -> Result<Self, CloudError> {
        let header = MessageHeader::read(reader)?;
        let [height, width] = [reader.u32("height")?, reader.u32("width")?];
        let distortion_model = reader.string("distortion_model")?;
        let d = reader.f64s("d")?;
        let (k, r, p) = (matrix(reader, "k")?, matrix(reader, "r")?, matrix(reader, "p")?);
        let binning = [reader.u32("binning_x")?, reader.u32("binning_y")?];
        let mut roi = [0; 4];
        for value in &mut roi {
            *value = reader.u32("roi")?;
        }
        let do_rectify = reader.bool("roi.do_rectify")?;
        Ok(Self { header, height, width, distortion_model, d, k, r, p, binning, roi, do_rectify })
    }

    fn write(&self, writer: &mut WireWriter) {
        self.header.write(writer);
        writer.u32(self.height);
        writer.u32(self.width);
        writer.string(&self.distortion_model);
        writer.f64s(&self.d);
        self.k.iter().chain(&self.r).chain(&self.p).for_each(|value| writer.f64(*value));
        self.binning.iter().chain(&self.roi).for_each(|value| writer.u32(*value));
        writer.bool(self.do_rectify);
    }
}

fn matrix<const N: usize>(reader: &mut WireReader<'_>, of: &str) -> Result<[f64; N], CloudError> {
    let mut values = [0.0; N];
    for value in &mut values {
        *value = reader.f64(of)?;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> CameraInfo {
        CameraInfo {
            height: 480,
            width: 640,
            k: [600.0, 0.0, 319.5, 0.0, 610.0, 239.5, 0.0, 0.0, 1.0],
            ..CameraInfo::default()
        }
    }

    #[test]
    fn parts_and_binned_pictures_see_along_the_same_rays() {
        let whole = info().model().unwrap();
        let binned = CameraInfo { binning: [2, 2], ..info() }.model().unwrap();
        assert_eq!(binned.size_px, Some([320, 240]));
        // Two pixels in one: the ray between them.
        let ray = |p: &Pinhole, column: f64| (column - p.cx) / p.fx;
        let between = 0.5 * (ray(&whole.pinhole, 10.0) + ray(&whole.pinhole, 11.0));
        assert!((ray(&binned.pinhole, 5.0) - between).abs() < 1e-12);
        let cut = CameraInfo { roi: [100, 50, 200, 300], ..info() }.model().unwrap();
        assert_eq!(cut.size_px, Some([300, 200]));
        assert!((ray(&cut.pinhole, 5.0) - ray(&whole.pinhole, 105.0)).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let fisheye =
            CameraInfo { distortion_model: "equidistant".to_owned(), d: vec![0.1; 4], ..info() };
        assert!(fisheye.model().unwrap_err().to_string().contains("equidistant"));
        let raw = CameraInfo { k: [0.0; 9], ..info() };
        assert!(raw.model().unwrap_err().to_string().contains("not calibrated"));
    }
}
