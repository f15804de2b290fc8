//! What a dataset shows, as one page to look at: success with its interval, reasons, times,
//! places, pictures.
//!
//! ```no_run
//! use citrange_report::Survey;
//! use citrange_tape::Dataset;
//!
//! let dataset = Dataset::open("oranges".as_ref())?;
//! let mut survey = Survey::of(&dataset, &|_done| ());
//! survey.write(&dataset, "oranges_report".as_ref(), None)?;
//! # Ok::<(), citrange_report::ReportError>(())
//! ```
//!
//! ```
//! // How sure a success rate is: 45 of 50 is somewhere between 79 and 96 %.
//! let rate = citrange_report::Rate::new(45, 50).ok_or("nothing was tried")?;
//! assert_eq!(rate.interval_95.map(|end| (100.0 * end).round()), [79.0, 96.0]);
//! # Ok::<(), &str>(())
//! ```
//!
//! A [`Survey`] reads every tape once; its [`Numbers`] and [`EpisodeFacts`] are what `report.json`
//! holds. Episodes without an autopilot's events (people, scripts, other programs) are counted by
//! outcome and length. Pictures are decoded only where they are shown.
//!
//! | to change | look in |
//! |---|---|
//! | what is read from a tape's events | `story.rs`, `survey.rs` |
//! | what is counted | `numbers.rs`, `stats.rs` |
//! | a chart | `charts/`, drawing `svg.rs`, colours `style.rs` |
//! | which pictures are shown | `sheet.rs`, `stills.rs`; pictures themselves `picture.rs` |
//! | the page | `page.rs`; the files `write.rs`; all of it with a film, in one call `make.rs` |

mod base64;
mod charts;
mod error;
mod make;
mod numbers;
mod page;
mod sheet;
mod stats;
mod stills;
mod story;
mod style;
mod survey;
mod svg;
mod workspace;
mod write;

pub use error::ReportError;
pub use make::{FilmChoice, Report, ReportOptions, folder_beside, make_report};
pub use numbers::{FailureCount, Numbers, OutcomeCount, StateTimes};
pub use stats::{Rate, Spread};
pub use story::{Failure, Stage, Thing};
pub use survey::{About, EpisodeFacts, Survey};
pub use workspace::{Disc, SceneFromAbove};
