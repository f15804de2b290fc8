//! Pictures drawn by the engine's own OpenGL renderer, where the machine has one.
//!
//! The default renderer of Citrange is software of its own and needs nothing. This one is for
//! GPUs, and to check the other: it gives the same [`Frame`]. EGL and OSMesa are looked for at
//! run time; a machine without them still builds and runs everything else.
//!
//! Two passes make a frame. The first draws colours. The second draws ids, without smoothing,
//! and its depth is the depth of the pixel's centre; that of the first would be a mean over edges.
#![allow(unsafe_code)]

mod context;
mod egl;
mod functions;
mod library;
mod osmesa;

use citrange_render::Frame;
use mujoco_rs::prelude::*;

pub use context::GlKind;

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::layout::CameraLayout;
use crate::picture::LAST_VISIBLE_GROUP;
use crate::world::World;
use context::Context;
use library::Names;

/// Slices of a circle and stacks of a sphere on a GPU. The engine's 28 and 16 are visibly
/// angular; with these a sphere of 0.1 m is off by 0.03 mm.
const TESSELLATION: [i32; 2] = [128, 64];
/// The same where the driver runs on the CPU, which pays for every corner: off by 0.2 mm.
const SOFTWARE_TESSELLATION: [i32; 2] = [48, 24];
/// Side of shadow maps where the driver runs on the CPU. Half of it shows its texels.
const SOFTWARE_SHADOW_TEXELS: i32 = 2048;
/// From this opacity on, a surface is in depth and ids, as in the software renderer.
const SOLID: f32 = 0.5;
/// The engine's sky is a drum of this part of the far distance and hides what is behind.
const SKY_PER_FAR: f64 = 0.7;
/// Half of an infinite plane's drawn width per far distance of the model.
const PLANE_PER_FAR: f64 = 1.05;

/// Draws cameras with OpenGL. Belongs to the thread that made it.
pub struct GlRenderer {
    // In this order: the engine's objects go before the context that they live in.
    engine: MjrContext,
    scene: MjvScene,
    context: Context,
    /// What the engine draws: a copy, because drawing needs it writable.
    data: MjData<Box<MjModel>>,
    options: MjvOption,
    /// Geom of each id in the picture.
    geoms: Vec<i32>,
    ids: Vec<u8>,
    depth: Vec<f32>,
    model_hash: String,
}

impl std::fmt::Debug for GlRenderer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GlRenderer").field("backend", &self.backend()).finish_non_exhaustive()
    }
}

/// Makes a context and gives it back: what OpenGL this machine has, for people.
///
/// # Errors
/// When it has none: what was tried, why it failed, and the cure.
pub fn gl_probe() -> Result<String, SimError> {
    Ok(Context::open(GlKind::Auto, &Names::default())?.description())
}

impl GlRenderer {
    /// Makes a context and sends the scene's shapes and textures to the driver.
    ///
    /// MuJoCo binds itself to one kind of OpenGL per process: after the first renderer,
    /// [`GlKind::Auto`] means the same kind again.
    ///
    /// # Errors
    /// When there is no OpenGL, or it cannot draw pictures as large as the scene's cameras.
    pub fn new(scene: &CompiledScene, kind: GlKind) -> Result<Self, SimError> {
        let context = Context::for_engine(kind, &Names::default())?;
        let model = drawn_model(scene, &context)?;
        let mut options = MjvOption::default();
        for (group, visible) in options.geomgroup.iter_mut().enumerate() {
            *visible = u8::from(group as i32 <= LAST_VISIBLE_GROUP);
        }
        options.sitegroup.fill(0);
        options.tendongroup.fill(0);
        options.flexgroup.fill(0);
        options.skingroup.fill(0);
        let view = MjvScene::new(&model, model.ffi().ngeom as usize + 1);
        context.make_current().map_err(SimError::Gl)?;
        // SAFETY: the context is current, as just checked, and stays on this thread because
        // MjrContext cannot be sent; it outlives the engine's objects by the order of the fields,
        // and is made current before they are dropped. Sizes were checked against the driver's.
        let mut engine = unsafe { MjrContext::new(&model) };
        // SAFETY: only the way that depth is read back changes: 1 is near, 0 is far.
        unsafe { engine.ffi_mut() }.readDepthMap = MjtDepthMap::mjDEPTH_ZEROFAR as i32;
        engine.offscreen();
        if engine.current_buffer() != MjtFramebuffer::mjFB_OFFSCREEN as i32 {
            return Err(SimError::Gl(format!(
                "{} has no picture buffer of {} x {}",
                context.description(),
                engine.off_width(),
                engine.off_height()
            )));
        }
        let data = MjData::try_new(Box::new(model)).map_err(|e| SimError::Mujoco(e.to_string()))?;
        Ok(Self {
            engine,
            scene: view,
            context,
            data,
            options,
            geoms: Vec::new(),
            ids: Vec::new(),
            depth: Vec::new(),
            model_hash: scene.model_hash.clone(),
        })
    }

    /// What draws, for people: for example `EGL (Mesa/X.org, llvmpipe (LLVM 15.0.6, 256 bits))`.
    #[must_use]
    pub fn backend(&self) -> String {
        self.context.description()
    }

    /// Draws one camera in one environment. Ids are the engine's geoms, as in [`World::frame`].
    ///
    /// # Errors
    /// When the environment or camera is not known, or the world is of another scene.
    pub fn frame(
        &mut self,
        world: &World,
        env: usize,
        camera: &str,
        shadows: bool,
        frame: &mut Frame,
    ) -> Result<(), SimError> {
        if world.scene.model_hash != self.model_hash {
            return Err(SimError::Gl("the world is of another scene than this renderer".into()));
        }
        let camera = world.scene.layout.camera(camera)?;
        world.data(env)?.copy_visual_to(&mut self.data).map_err(gl)?;
        self.context.make_current().map_err(SimError::Gl)?;
        // Another renderer on this thread may have drawn since.
        self.engine.offscreen();
        self.update(camera)?;
        let pixels = camera.width * camera.height;
        frame.width = camera.width;
        frame.height = camera.height;
        frame.rgb.resize(3 * pixels, 0);
        frame.depth.resize(pixels, f32::INFINITY);
        frame.ids.resize(pixels, -1);
        self.ids.resize(3 * pixels, 0);
        self.depth.resize(pixels, 0.0);

        let viewport = MjrRectangle::new(0, 0, camera.width as i32, camera.height as i32);
        self.aim(camera, corner_m(camera) / SKY_PER_FAR);
        self.set_flags(&[(MjtRndFlag::mjRND_SKYBOX, true), (MjtRndFlag::mjRND_SHADOW, shadows)]);
        self.scene.render(&viewport, &self.engine);
        self.engine.read_pixels(Some(&mut frame.rgb), None, &viewport).map_err(gl)?;
        flip(&mut frame.rgb, 3 * camera.width);

        self.aim(camera, camera.far_m);
        self.set_flags(&[(MjtRndFlag::mjRND_SEGMENT, true), (MjtRndFlag::mjRND_IDCOLOR, true)]);
        self.hide_glass();
        self.scene.render(&viewport, &self.engine);
        let (ids, depth) = (&mut self.ids, &mut self.depth);
        self.engine.read_pixels(Some(ids), Some(depth), &viewport).map_err(gl)?;
        self.decode(camera, frame);
        Ok(())
    }

    /// Fills the engine's list of shapes and lights.
    fn update(&mut self, camera: &CameraLayout) -> Result<(), SimError> {
        let mut view = MjvCamera::new_fixed(camera.index);
        let shapes = MjtCatBit::mjCAT_STATIC as i32 | MjtCatBit::mjCAT_DYNAMIC as i32;
        let perturb = MjvPerturb::default();
        self.scene.update_with_catmask(&mut self.data, &self.options, &perturb, &mut view, shapes);
        if self.scene.status() != 0 {
            return Err(SimError::Gl("more shapes than the model has geoms".into()));
        }
        Ok(())
    }

    /// Sets field of view and depth range; where the camera is, the engine has set.
    fn aim(&mut self, camera: &CameraLayout, far_m: f64) {
        let top = camera.near_m * (0.5 * camera.fovy_deg.to_radians()).tan();
        // SAFETY: plain numbers; near and far are positive by the scene's check.
        for eye in &mut unsafe { self.scene.ffi_mut() }.camera {
            eye.orthographic = 0;
            eye.frustum_center = 0.0;
            // Zero lets the picture's shape decide: pixels are square.
            eye.frustum_width = 0.0;
            eye.frustum_top = top as f32;
            eye.frustum_bottom = -top as f32;
            eye.frustum_near = camera.near_m as f32;
            eye.frustum_far = far_m as f32;
        }
    }

    /// Sets what a pass draws: the outer sides of shapes, and what is asked for.
    fn set_flags(&mut self, on: &[(MjtRndFlag, bool)]) {
        let flags = self.scene.flags_mut();
        flags.fill(0);
        flags[MjtRndFlag::mjRND_CULL_FACE as usize] = 1;
        for (flag, value) in on {
            flags[*flag as usize] = u8::from(*value);
        }
    }

    /// Takes glass out of the id pass, and notes which geom each id stands for.
    fn hide_glass(&mut self) {
        self.geoms.clear();
        // SAFETY: materials and textures stay as the engine set them; ids only decide the colour.
        for shape in unsafe { self.scene.geoms_mut() } {
            let is_geom = shape.objtype == MjtObj::mjOBJ_GEOM as i32;
            if !is_geom || shape.rgba[3] < SOLID {
                shape.segid = -1;
                continue;
            }
            shape.segid = self.geoms.len() as i32;
            self.geoms.push(shape.objid);
        }
    }

    /// Turns colours into geoms and the depth buffer into metres, with the top row first.
    fn decode(&self, camera: &CameraLayout, frame: &mut Frame) {
        let (near, far) = (f64::from(camera.near_m as f32), f64::from(camera.far_m as f32));
        let width = camera.width;
        for row in 0..camera.height {
            let from = (camera.height - 1 - row) * width;
            let out = row * width;
            for col in 0..width {
                let [r, g, b] = [0, 1, 2].map(|i| usize::from(self.ids[3 * (from + col) + i]));
                let buffer = self.depth[from + col];
                // Colour 0 is the background.
                let id = (r | g << 8 | b << 16).checked_sub(1);
                let geom = id.and_then(|id| self.geoms.get(id)).filter(|_| buffer > 0.0);
                frame.ids[out + col] = geom.copied().unwrap_or(-1);
                frame.depth[out + col] = match geom {
                    Some(_) => (near * far / (near + f64::from(buffer) * (far - near))) as f32,
                    None => f32::INFINITY,
                };
            }
        }
    }
}

impl Drop for GlRenderer {
    fn drop(&mut self) {
        // The engine's objects go next, and belong to this context. It can only fail where the
        // driver is gone, and then there is nothing to give back either.
        let _gone = self.context.make_current();
    }
}

/// The scene's model with the settings of this renderer.
fn drawn_model(scene: &CompiledScene, context: &Context) -> Result<MjModel, SimError> {
    let mut model = MjModel::clone(&scene.model);
    let cameras = || scene.layout.cameras.values();
    let width = cameras().map(|c| c.width).max().unwrap_or(1) as i32;
    let height = cameras().map(|c| c.height).max().unwrap_or(1) as i32;
    let driver = &context.driver;
    if width.max(height) > driver.max_image {
        return Err(SimError::Gl(format!(
            "{} draws at most {1} x {1} pixels, a camera of the scene asks for {width} x {height}",
            context.description(),
            driver.max_image
        )));
    }
    // Infinite planes are drawn so large that every corner of a picture finds them.
    let reach = cameras().map(|c| corner_m(c) / SKY_PER_FAR / PLANE_PER_FAR);
    let extent = model.stat().extent;
    let far = reach.fold(0.0, f64::max) / extent;
    let vis = model.vis_mut();
    vis.map.zfar = vis.map.zfar.max(far as f32);
    vis.global.offwidth = width;
    vis.global.offheight = height;
    let quality = &mut vis.quality;
    let software = driver.is_software();
    let [slices, stacks] = if software { SOFTWARE_TESSELLATION } else { TESSELLATION };
    quality.numslices = quality.numslices.max(slices);
    quality.numstacks = quality.numstacks.max(stacks);
    if software {
        quality.shadowsize = quality.shadowsize.min(SOFTWARE_SHADOW_TEXELS);
    }
    quality.shadowsize = quality.shadowsize.min(driver.max_texture);
    Ok(model)
}

/// How far away the corners of a picture are at the camera's far distance.
fn corner_m(camera: &CameraLayout) -> f64 {
    let up = (0.5 * camera.fovy_deg.to_radians()).tan();
    let side = up * camera.width as f64 / camera.height as f64;
    camera.far_m * (1.0 + up * up + side * side).sqrt()
}

/// Turns a picture upside down.
fn flip(pixels: &mut [u8], row_bytes: usize) {
    let (top, bottom) = pixels.split_at_mut(pixels.len() / row_bytes / 2 * row_bytes);
    for (a, b) in top.chunks_exact_mut(row_bytes).zip(bottom.rchunks_exact_mut(row_bytes)) {
        a.swap_with_slice(b);
    }
}

fn gl(error: impl std::fmt::Display) -> SimError {
    SimError::Gl(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::flip;

    #[test]
    fn flipping_swaps_rows_and_keeps_the_middle() {
        let mut odd = [1, 2, 3, 4, 5, 6];
        flip(&mut odd, 2);
        assert_eq!(odd, [5, 6, 3, 4, 1, 2]);
        let mut even = [1, 2, 3, 4];
        flip(&mut even, 2);
        assert_eq!(even, [3, 4, 1, 2]);
    }
}
