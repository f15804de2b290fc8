//! Opening OpenGL libraries at run time.
#![allow(unsafe_code)]

use std::ffi::CStr;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

/// Where the libraries are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    pub(super) egl: &'static str,
    pub(super) osmesa: &'static [&'static str],
}

impl Default for Names {
    fn default() -> Self {
        Self { egl: "libEGL.so.1", osmesa: &["libOSMesa.so.8", "libOSMesa.so.6"] }
    }
}

/// Opens a library so that only its opener sees it.
pub(super) fn open(name: &str) -> Result<Library, String> {
    open_with(name, RTLD_NOW | RTLD_LOCAL)
}

/// Shows an open library to the whole process: the engine looks there first.
pub(super) fn publish(name: &str) -> Result<(), String> {
    open_with(name, RTLD_NOW | RTLD_GLOBAL).map(std::mem::forget)
}

/// Whether the whole process sees a function.
pub(super) fn is_public(function: &CStr) -> bool {
    // SAFETY: only the address is taken.
    unsafe { Library::this().get::<*mut ()>(function) }.is_ok()
}

fn open_with(name: &str, flags: i32) -> Result<Library, String> {
    // SAFETY: loading runs the initialisers of a system library found by its usual name.
    unsafe { Library::open(Some(name), flags) }.map_err(|e| {
        // The reason alone: the loader's words, without libloading's frame.
        std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string)
    })
}

/// A function of a library, copied out.
///
/// # Safety
/// `F` must be the function's type, and the library must never be closed.
pub(super) unsafe fn symbol<F: Copy>(library: &Library, name: &CStr) -> Result<F, String> {
    // SAFETY: the caller's promise.
    unsafe { library.get::<F>(name) }.map(|f| *f).map_err(|_| format!("it has no {name:?}"))
}
