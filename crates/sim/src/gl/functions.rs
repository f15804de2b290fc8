//! The few OpenGL functions that Citrange calls itself: what the driver is and what it can do.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

const GL_VENDOR: c_uint = 0x1F00;
const GL_RENDERER: c_uint = 0x1F01;
const GL_VERSION: c_uint = 0x1F02;
const GL_EXTENSIONS: c_uint = 0x1F03;
const GL_MAX_TEXTURE_SIZE: c_uint = 0x0D33;
const GL_MAX_RENDERBUFFER_SIZE: c_uint = 0x84E8;

/// What the engine needs beyond OpenGL 1.5; it ends the process where one is missing.
const NEEDED: [&str; 2] = ["GL_ARB_framebuffer_object", "GL_ARB_vertex_buffer_object"];

/// Looks a function up by name: `eglGetProcAddress` or `OSMesaGetProcAddress`.
pub(super) type GetProc = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// What the current context can do.
#[derive(Clone, Debug)]
pub(super) struct Driver {
    pub(super) vendor: String,
    pub(super) renderer: String,
    /// Largest side of an image to draw into, and of a texture.
    pub(super) max_image: i32,
    pub(super) max_texture: i32,
}

impl Driver {
    /// Asks the context that is current on this thread.
    ///
    /// # Safety
    /// `get_proc` must belong to the library whose context is current.
    pub(super) unsafe fn ask(get_proc: GetProc) -> Result<Self, String> {
        // SAFETY: the names end in zero; the answer is an address or null.
        let (get_string, get_integer) =
            unsafe { (get_proc(c"glGetString".as_ptr()), get_proc(c"glGetIntegerv".as_ptr())) };
        if get_string.is_null() || get_integer.is_null() {
            return Err("the library has no OpenGL functions".into());
        }
        // SAFETY: these are the signatures of the two functions since OpenGL 1.0.
        let (get_string, get_integer) = unsafe {
            (
                std::mem::transmute::<*mut c_void, extern "C" fn(c_uint) -> *const c_char>(
                    get_string,
                ),
                std::mem::transmute::<*mut c_void, extern "C" fn(c_uint, *mut c_int)>(get_integer),
            )
        };
        let text = |name: c_uint| {
            let text = get_string(name);
            // SAFETY: not null, and the driver's strings end in zero and outlive the context.
            (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
        };
        let number = |name: c_uint| {
            let mut value = 0;
            get_integer(name, &raw mut value);
            value
        };
        let version = text(GL_VERSION).ok_or("no context is current")?;
        if !at_least_1_5(&version) {
            return Err(format!("OpenGL {version} is too old, 1.5 is needed"));
        }
        let extensions = text(GL_EXTENSIONS).unwrap_or_default();
        if let Some(missing) = NEEDED.iter().find(|e| !extensions.split(' ').any(|x| x == **e)) {
            return Err(format!("OpenGL {version} lacks {missing}"));
        }
        Ok(Self {
            vendor: text(GL_VENDOR).unwrap_or_default().into_owned(),
            renderer: text(GL_RENDERER).unwrap_or_default().into_owned(),
            max_image: number(GL_MAX_RENDERBUFFER_SIZE),
            max_texture: number(GL_MAX_TEXTURE_SIZE),
        })
    }

    /// Whether it draws on the CPU, where shadows cost far more than on a GPU.
    pub(super) fn is_software(&self) -> bool {
        ["llvmpipe", "softpipe", "swrast"].iter().any(|name| self.renderer.contains(name))
    }
}

fn at_least_1_5(version: &str) -> bool {
    let mut parts = version.split(['.', ' ']).map_while(|part| part.parse::<u32>().ok());
    (parts.next(), parts.next()) >= (Some(1), Some(5))
}

#[cfg(test)]
mod tests {
    use super::at_least_1_5;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(at_least_1_5("4.5 (Compatibility Profile) Mesa 22.3.6"));
        assert!(at_least_1_5("1.5"));
        assert!(at_least_1_5("10.0.1 Vendor"));
        assert!(!at_least_1_5("1.4.2 Old"));
        assert!(!at_least_1_5("OpenGL ES 3.2"));
    }
}
