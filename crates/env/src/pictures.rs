//! Pictures of all environments, in one block per camera.

use citrange_core::CameraState;
use citrange_sim::CameraQuery;

/// What one camera shows of all environments, one after the other.
#[derive(Clone, Debug, Default)]
pub struct CameraPictures {
    /// Pixels down and across.
    pub size_px: [usize; 2],
    /// Colours, rgb8; empty if not asked for.
    pub rgb: Vec<u8>,
    /// Distances along the optical axis, metres; empty if not asked for.
    pub depth: Vec<f32>,
    /// Which robot, object or fixture is seen, -1 for nothing; empty if not asked for.
    pub ids: Vec<i32>,
}

impl CameraPictures {
    pub(crate) fn new(query: CameraQuery, size_px: [usize; 2], num_envs: usize) -> Self {
        let pixels = size_px[0] * size_px[1] * num_envs;
        let many = |wanted: bool, per_pixel: usize| if wanted { pixels * per_pixel } else { 0 };
        Self {
            size_px,
            rgb: vec![0; many(query.rgb, 3)],
            depth: vec![0.0; many(query.depth, 1)],
            ids: vec![0; many(query.segmentation, 1)],
        }
    }

    /// Takes the pictures of some environments.
    pub(crate) fn take(&mut self, envs: &[usize], state: &CameraState) {
        let pixels = self.size_px[0] * self.size_px[1];
        put(&mut self.rgb, state.rgb.as_ref().and_then(|a| a.as_slice()), envs, 3 * pixels);
        put(&mut self.depth, state.depth.as_ref().and_then(|a| a.as_slice()), envs, pixels);
        put(&mut self.ids, state.instance_seg.as_ref().and_then(|a| a.as_slice()), envs, pixels);
    }

    /// Copies the pictures of an environment from another block of the same camera.
    pub(crate) fn copy_env(&mut self, from: &Self, env: usize) {
        let pixels = self.size_px[0] * self.size_px[1];
        copy(&mut self.rgb, &from.rgb, env, 3 * pixels);
        copy(&mut self.depth, &from.depth, env, pixels);
        copy(&mut self.ids, &from.ids, env, pixels);
    }
}

fn put<T: Copy>(to: &mut [T], from: Option<&[T]>, envs: &[usize], len: usize) {
    let (Some(from), false) = (from, to.is_empty()) else { return };
    for (row, env) in from.chunks_exact(len.max(1)).zip(envs) {
        to[env * len..(env + 1) * len].copy_from_slice(row);
    }
}

fn copy<T: Copy>(to: &mut [T], from: &[T], env: usize, len: usize) {
    if !to.is_empty() {
        to[env * len..(env + 1) * len].copy_from_slice(&from[env * len..(env + 1) * len]);
    }
}
