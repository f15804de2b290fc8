//! `sensor_msgs/PointCloud2`, as ROS 1 and ROS 2 carry it.

use citrange_lanes::Isa;
use std::ops::Range;

use super::layout::{Field, Layout};
use super::scalar::Scalar;
use crate::cloud::Points;
use crate::error::CloudError;

const WHAT: &str = "PointCloud2";

/// One field of a point, as the message declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointField {
    /// Its name, such as `x` or `rgb`.
    pub name: String,
    /// First byte within a point.
    pub offset: u32,
    /// Kind of number: one of the constants of this type.
    pub datatype: u8,
    /// How many numbers.
    pub count: u32,
}

impl PointField {
    /// Signed byte.
    pub const INT8: u8 = 1;
    /// Byte.
    pub const UINT8: u8 = 2;
    /// Signed, 2 bytes.
    pub const INT16: u8 = 3;
    /// 2 bytes.
    pub const UINT16: u8 = 4;
    /// Signed, 4 bytes.
    pub const INT32: u8 = 5;
    /// 4 bytes.
    pub const UINT32: u8 = 6;
    /// Float, 4 bytes.
    pub const FLOAT32: u8 = 7;
    /// Float, 8 bytes.
    pub const FLOAT64: u8 = 8;

    /// A single number.
    #[must_use]
    pub fn new(name: &str, offset: u32, datatype: u8) -> Self {
        Self { name: name.to_owned(), offset, datatype, count: 1 }
    }

    fn as_field(&self) -> Result<Field<'_>, CloudError> {
        let scalar = match self.datatype {
            Self::INT8 => Scalar::I8,
            Self::UINT8 => Scalar::U8,
            Self::INT16 => Scalar::I16,
            Self::UINT16 => Scalar::U16,
            Self::INT32 => Scalar::I32,
            Self::UINT32 => Scalar::U32,
            Self::FLOAT32 => Scalar::F32,
            Self::FLOAT64 => Scalar::F64,
            other => {
                let reason = format!("field {} has datatype {other}, must be 1 to 8", self.name);
                return Err(CloudError::bad(WHAT, reason));
            }
        };
        let (offset, count) = (self.offset as usize, self.count as usize);
        Ok(Field { name: &self.name, offset, scalar, count })
    }
}

/// A message that was taken apart but not looked at yet.
#[derive(Clone, Copy, Debug)]
pub struct PointCloud2<'a> {
    /// Rows; 1 for a cloud that is no picture.
    pub height: u32,
    /// Points in a row.
    pub width: u32,
    /// What a point holds.
    pub fields: &'a [PointField],
    /// Whether numbers begin with their highest byte.
    pub is_bigendian: bool,
    /// Bytes from point to point.
    pub point_step: u32,
    /// Bytes from row to row.
    pub row_step: u32,
    /// The points.
    pub data: &'a [u8],
    /// When it was taken.
    pub stamp_ns: u64,
}

impl<'a> PointCloud2<'a> {
    /// Checks everything once; afterwards reading cannot fail.
    ///
    /// # Errors
    /// Says which field or size is wrong and what would be right.
    pub fn points(&self) -> Result<PointCloud2View<'a>, CloudError> {
        let bad = |reason: String| CloudError::bad(WHAT, reason);
        let (height, width) = (self.height as usize, self.width as usize);
        let (point_step, row_step) = (self.point_step as usize, self.row_step as usize);
        let fields = self.fields.iter().map(PointField::as_field).collect::<Result<Vec<_>, _>>()?;
        let layout = Layout::of(WHAT, &fields, point_step, self.is_bigendian)?;
        let too_large = || bad(format!("{width} x {height} points are beyond all memory"));
        let row_bytes = width.checked_mul(point_step).ok_or_else(too_large)?;
        let len = width.checked_mul(height).ok_or_else(too_large)?;
        if row_step < row_bytes && len > 0 {
            let need = format!("{width} points of {point_step} bytes need {row_bytes}");
            return Err(bad(format!("row_step is {row_step}, but {need}")));
        }
        let total = row_step.checked_mul(height).ok_or_else(too_large)?;
        // A cloud without points has no data, whatever its row_step says.
        let expected = if len == 0 { 0 } else { total };
        if self.data.len() != expected {
            let found = self.data.len();
            let need = format!("{height} rows of {row_step} bytes are {expected}");
            return Err(bad(format!("data has {found} bytes, but {need}")));
        }
        let (data, stamp_ns) = (self.data, self.stamp_ns);
        // Rows without padding are one long row: no seams for the loops.
        let row_points = if row_step == row_bytes { len } else { width };
        Ok(PointCloud2View {
            data,
            layout,
            len,
            width,
            row_points,
            row_step,
            stamp_ns,
            isa: Isa::best(),
        })
    }
}

/// A checked message, ready to be read.
#[derive(Clone, Copy, Debug)]
pub struct PointCloud2View<'a> {
    data: &'a [u8],
    layout: Layout,
    len: usize,
    width: usize,
    /// Points without padding between them.
    row_points: usize,
    row_step: usize,
    stamp_ns: u64,
    isa: Isa,
}

impl PointCloud2View<'_> {
    /// The same, read with given instructions; those that the processor lacks are not taken.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// Whether points have colours.
    #[must_use]
    pub fn has_rgb(&self) -> bool {
        self.layout.has_colour()
    }

    /// Points `start..start + count` in pieces that lie together: which of them, and their bytes.
    fn in_rows(&self, start: usize, count: usize, mut each: impl FnMut(Range<usize>, &[u8])) {
        let mut done = 0;
        while done < count {
            let index = start + done;
            let points = (self.row_points - index % self.row_points).min(count - done);
            let at = self.offset_of(index);
            each(done..done + points, &self.data[at..at + points * self.layout.step()]);
            done += points;
        }
    }

    fn offset_of(&self, index: usize) -> usize {
        (index / self.row_points) * self.row_step + (index % self.row_points) * self.layout.step()
    }
}

impl Points for PointCloud2View<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn width(&self) -> usize {
        self.width
    }

    fn stamp_ns(&self) -> u64 {
        self.stamp_ns
    }

    fn fill(&self, start: usize, x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
        self.in_rows(start, x.len(), |part, bytes| {
            let (x, y) = (&mut x[part.clone()], &mut y[part.clone()]);
            self.layout.fill(self.isa, bytes, x, y, &mut z[part]);
        });
    }

    fn fill_rgb(&self, start: usize, out: &mut [u32]) {
        self.in_rows(start, out.len(), |part, bytes| {
            self.layout.fill_rgb(bytes, &mut out[part]);
        });
    }

    fn rgb(&self, index: usize) -> [u8; 3] {
        let at = self.offset_of(index);
        self.layout.rgb(&self.data[at..at + self.layout.step()])
    }
}
