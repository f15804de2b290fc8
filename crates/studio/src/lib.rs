//! Studio: one page that shows a running arm and lets one person at a time drive it.

mod board;

pub use board::{
    Board, Form, Live, Phase, Session, Stage, StageCamera, StageJoint, StageKey, StageShape,
};
