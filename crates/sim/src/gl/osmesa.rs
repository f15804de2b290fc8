//! An OpenGL context in plain memory, from OSMesa.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use libloading::os::unix::Library;

use super::functions::GetProc;
use super::library::symbol;

type Handle = *mut c_void;

const GL_RGBA: c_uint = 0x1908;
const GL_UNSIGNED_BYTE: c_uint = 0x1401;
const DEPTH_BITS: c_int = 24;
const STENCIL_BITS: c_int = 8;
/// The engine draws into its own buffers; this one only has to exist.
const SIDE: usize = 16;

/// OSMesa's functions. Copied out of a library that is never closed.
#[derive(Clone, Copy, Debug)]
struct Functions {
    get_proc: GetProc,
    create: unsafe extern "C" fn(c_uint, c_int, c_int, c_int, Handle) -> Handle,
    make_current: unsafe extern "C" fn(Handle, *mut c_void, c_uint, c_int, c_int) -> u8,
    current: unsafe extern "C" fn() -> Handle,
    destroy: unsafe extern "C" fn(Handle),
}

/// A context with its buffer.
#[derive(Debug)]
pub(super) struct Osmesa {
    functions: Functions,
    context: Handle,
    /// OSMesa's own view of the memory: written only by it.
    buffer: *mut [u8; 4 * SIDE * SIDE],
}

impl Osmesa {
    /// A context, which is then current.
    pub(super) fn open(library: &Library) -> Result<Self, String> {
        // SAFETY: the types above are those of GL/osmesa.h.
        let functions = unsafe {
            Functions {
                get_proc: symbol(library, c"OSMesaGetProcAddress")?,
                create: symbol(library, c"OSMesaCreateContextExt")?,
                make_current: symbol(library, c"OSMesaMakeCurrent")?,
                current: symbol(library, c"OSMesaGetCurrentContext")?,
                destroy: symbol(library, c"OSMesaDestroyContext")?,
            }
        };
        // SAFETY: numbers only; nothing is shared.
        let context =
            unsafe { (functions.create)(GL_RGBA, DEPTH_BITS, STENCIL_BITS, 0, null_mut()) };
        if context.is_null() {
            return Err("OSMesaCreateContextExt failed".into());
        }
        let buffer = Box::into_raw(Box::new([0; 4 * SIDE * SIDE]));
        // From here on dropping it gives the parts back.
        let osmesa = Self { functions, context, buffer };
        osmesa.make_current()?;
        Ok(osmesa)
    }

    pub(super) fn make_current(&self) -> Result<(), String> {
        let Self { functions, context, buffer } = self;
        let side = SIDE as c_int;
        // SAFETY: the context is alive, the buffer has the size given and lives as long as it.
        let made = unsafe {
            (functions.make_current)(*context, buffer.cast(), GL_UNSIGNED_BYTE, side, side) != 0
                && (functions.current)() == *context
        };
        if made { Ok(()) } else { Err("OSMesaMakeCurrent failed".into()) }
    }

    pub(super) fn get_proc(&self) -> GetProc {
        self.functions.get_proc
    }
}

impl Drop for Osmesa {
    fn drop(&mut self) {
        let Self { functions, context, buffer } = self;
        // SAFETY: the context was not destroyed before and is released first if current; the
        // buffer came from a Box and nothing uses it without the context.
        unsafe {
            if (functions.current)() == *context {
                (functions.make_current)(null_mut(), null_mut(), GL_UNSIGNED_BYTE, 0, 0);
            }
            (functions.destroy)(*context);
            drop(Box::from_raw(*buffer));
        }
    }
}

/// What the engine looks for to find OSMesa.
pub(super) const LOOKUP: &std::ffi::CStr = c"OSMesaGetProcAddress";
