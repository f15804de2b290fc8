//! A cell at work: frames of its cameras become a map, pictures, camera poses; simulated ones too.
//!
//! A cell is a robot with its cameras, as people write it: [`citrange_space::Cell`]. What a verb of
//! the command line does with one is a call here.
//!
//! ```no_run
//! use citrange_cell::{CellReader, FrameMapper, MapperSettings};
//!
//! // Two frames become a map for the planner; a camera that moved meanwhile is named.
//! let reader = CellReader::open(Some("cell.yaml".as_ref()), None, None)?;
//! let mut mapper = FrameMapper::new(reader, MapperSettings { watch_drift: true, ..Default::default() });
//! for path in ["left.npz", "right.npz"] {
//!     if let Some(mapped) = mapper.add(path.as_ref())? {
//!         println!("{}: {} voxels", mapped.report.name, mapped.report.voxels);
//!     }
//! }
//! if let Some(map) = mapper.map() {
//!     map.save("map.bin".as_ref())?;
//! }
//! assert_eq!(mapper.moved(), None);
//! # Ok::<(), citrange_cell::CellError>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | how a frame is read, and its robot built | `reader.rs` |
//! | frames of a recording | `recorded.rs`; where frames and joints were `transforms.rs` |
//! | frames to a map, with counts, times and drift | `mapper.rs` |
//! | the picture of a frame | `picture.rs` |
//! | frames of a simulated scene | `simulate.rs`; what moves in it `stir.rs` |
//! | all of it in words | `words.rs` |
//! | a camera's pose from points or a cube | `find_camera.rs`; by hand `by_hand.rs` |

mod by_hand;
mod error;
mod find_camera;
mod mapper;
mod picture;
mod reader;
mod recorded;
mod simulate;
mod stir;
mod transforms;
mod words;

pub use by_hand::{HandCalibration, HandOrder, HandView};
pub use error::CellError;
pub use find_camera::{PointPairs, find_cube};
pub use mapper::{FrameMapper, MapSummary, MappedFrame, MapperSettings, in_order_of_time};
pub use picture::{DrawnFrame, draw_frame};
pub use reader::CellReader;
pub use recorded::{RecordedFrames, RecordedWanted};
pub use simulate::{DepthFrameSettings, DepthFrames, SIMULATED_FRAME_HZ};
pub use stir::Stirring;
pub use words::{cube_lines, pairs_lines};
