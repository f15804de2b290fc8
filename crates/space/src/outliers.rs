//! Statistical outlier removal: points that are farther from their nearest neighbours than others
//! are from theirs.
//!
//! A point's value is the mean distance to its `k` nearest points, itself included. Points whose
//! value is not below `mean + std_ratio * standard deviation` of all values are outliers, and so
//! are points whose value is 0: the rules of Open3D's `remove_statistical_outlier`, to the point.
//!
//! | idea | file |
//! |---|---|
//! | points in tiles with boxes; unordered clouds in a k-d tree's order | `field.rs`, `tree_order.rs` |
//! | nearest points of one point, tile by tile | `search.rs`, `kernels.rs` |
//! | which pixels can be near: the pinhole camera | `lens.rs` |
//! | nearest points of neighbouring pixels at once | `window.rs`, `networks.rs` |
//! | threshold, and who is beyond | `decide.rs` |

use crate::settings::{OutlierMode, Outliers};
use citrange_lanes::Isa;

mod decide;
mod distribute;
mod field;
mod kernels;
mod lens;
mod networks;
mod picture;
mod search;
mod tree_order;
mod unordered;
mod window;

use decide::{Measured, Order, decide};
use field::PointTiles;
use lens::Lens;
use picture::{Picture, Worker};
use tree_order::TreeOrder;
use window::Windows;

/// Most neighbours that can be asked for.
const MOST_NEIGHBOURS: usize = 64;

/// A cloud as separate coordinates in the camera's frame. A point with a coordinate that is not
/// finite does not take part.
#[derive(Clone, Copy, Debug)]
pub struct PictureXyz<'a> {
    /// To the right.
    pub x: &'a [f32],
    /// Down; as many as `x`.
    pub y: &'a [f32],
    /// Forward; as many as `x`.
    pub z: &'a [f32],
    /// Columns of the picture; the number of points for a cloud that is none.
    pub width: usize,
}

/// Finds statistical outliers; keeps its memory for the next cloud.
#[derive(Debug, Default)]
pub struct OutlierScratch {
    field: PointTiles,
    tree: TreeOrder,
    row_points: Vec<u32>,
    windows: Windows,
    workers: Vec<Worker>,
    /// Mean distance to the nearest of the points; below 0 where there is none.
    values: Vec<f32>,
    exact_values: Vec<f64>,
    outliers: Vec<bool>,
}

impl OutlierScratch {
    /// Which points of a cloud are outliers; points that do not take part are none.
    ///
    /// `neighbours` outside of 2 to 64 are taken as the nearest of these. With one thread nothing
    /// is allocated once clouds of this size have been seen; more threads are those of the
    /// current rayon pool. Neither the instruction set nor the threads change the answer.
    pub fn find(
        &mut self,
        picture: &PictureXyz<'_>,
        settings: &Outliers,
        isa: Isa,
        threads: usize,
    ) -> &[bool] {
        let points = picture.x.len().min(picture.y.len()).min(picture.z.len());
        let k = settings.neighbours.clamp(2, MOST_NEIGHBOURS);
        let picture = &PictureXyz {
            x: &picture.x[..points],
            y: &picture.y[..points],
            z: &picture.z[..points],
            width: picture.width,
        };
        self.outliers.clear();
        self.outliers.resize(points, false);
        self.workers.resize_with(threads.max(1), Worker::default);
        let lens = self.lay_out(picture);
        for worker in &mut self.workers {
            worker.search.set_up(&self.field, k, isa);
        }
        let (field, workers, values) = (&self.field, &mut self.workers, &mut self.values);
        let order = if let Some(lens) = &lens {
            self.windows.set_up(field, lens);
            let picture = Picture {
                field,
                lens,
                windows: &self.windows,
                row_points: &self.row_points,
                width: picture.width,
                mode: settings.mode,
            };
            picture.measure(workers, values);
            Order::Rows(picture.width)
        } else {
            unordered::measure(field, &self.tree, workers, values);
            Order::Tiles(&self.tree)
        };
        let measured =
            Measured { field: &self.field, lens: lens.as_ref(), order, values: &self.values };
        let exact = (settings.mode == OutlierMode::Exact).then_some(&mut self.exact_values);
        if let Some(worker) = self.workers.first_mut() {
            decide(&measured, settings, &mut worker.search, exact, &mut self.outliers);
        }
        &self.outliers
    }

    /// Writes the points to the field: as the picture they are if a pinhole camera took it, in the
    /// order of a tree if not.
    fn lay_out(&mut self, cloud: &PictureXyz<'_>) -> Option<Lens> {
        let points = cloud.x.len();
        let is_picture = cloud.width < points && points.is_multiple_of(cloud.width);
        let mut lens = None;
        if is_picture {
            picture::lay_out(cloud, &mut self.field, &mut self.row_points);
            lens = Lens::of(&self.field);
        }
        if lens.is_none() {
            self.tree.lay_out(cloud, &mut self.field);
        }
        self.field.measure_tiles();
        if lens.is_none() {
            self.tree.measure(&self.field);
        }
        lens
    }
}
