//! A picture of a scene as a camera sees it, at some time of an episode.

use std::sync::Arc;

use citrange_render::{Frame, Settings};

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::gl::{GlKind, GlRenderer};
use crate::world::{Threads, World};

/// What is drawn, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureSettings {
    /// Name of the camera.
    pub camera: String,
    /// Seed of the run.
    pub seed: u64,
    /// Episode index.
    pub episode: u64,
    /// How long is simulated before, so that things come to rest.
    pub settle_s: f64,
    /// Whether things throw shadows.
    pub shadows: bool,
    /// Draw with the engine through OpenGL instead of the software renderer.
    pub gl: bool,
}

/// A picture with distances and ids.
#[derive(Debug, Default)]
pub struct ScenePicture {
    /// What was drawn.
    pub frame: Frame,
    /// Which OpenGL drew it; none for the software renderer.
    pub gl: Option<String>,
}

/// Draws a scene.
///
/// # Errors
/// When there is no such camera, things find no room, or there is no OpenGL where it is asked for.
pub fn draw_scene(
    scene: &Arc<CompiledScene>,
    settings: &PictureSettings,
) -> Result<ScenePicture, SimError> {
    let physics_hz = f64::from(scene.scene.rates.physics_hz);
    let mut world = World::new(Arc::clone(scene), 1, Threads::Exactly(1))?;
    world.reset_env(0, settings.seed, settings.episode)?;
    world.step((settings.settle_s.max(0.0) * physics_hz).round() as u32)?;
    let (camera, shadows) = (settings.camera.as_str(), settings.shadows);
    let mut picture = ScenePicture::default();
    if settings.gl {
        let mut gl = GlRenderer::new(scene, GlKind::Auto)?;
        gl.frame(&world, 0, camera, shadows, &mut picture.frame)?;
        picture.gl = Some(gl.backend());
    } else {
        world.set_render_settings(Settings { shadows, ..Settings::default() })?;
        picture.frame.clone_from(world.frame(0, camera)?);
    }
    Ok(picture)
}
