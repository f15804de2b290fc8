//! Software cameras: rgb, depth in metres and instance ids in one pass, on the CPU.
/// Placeholder until the rasteriser lands.
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct RenderError;
