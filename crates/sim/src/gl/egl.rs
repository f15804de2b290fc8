//! An OpenGL context without a window, from EGL.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use libloading::os::unix::Library;

use super::functions::GetProc;
use super::library::symbol;

type Handle = *mut c_void;

// From the EGL 1.5 registry.
const EGL_SUCCESS: c_int = 0x3000;
const EGL_NONE: c_int = 0x3038;
const EGL_OPENGL_API: c_uint = 0x30A2;
const EGL_PLATFORM_DEVICE_EXT: c_uint = 0x313F;
const EGL_WIDTH: c_int = 0x3057;
const EGL_HEIGHT: c_int = 0x3056;
const CONFIG: [c_int; 13] = [
    0x3033, 0x0001, // EGL_SURFACE_TYPE: EGL_PBUFFER_BIT
    0x3040, 0x0008, // EGL_RENDERABLE_TYPE: EGL_OPENGL_BIT
    0x3024, 8, // EGL_RED_SIZE
    0x3023, 8, // EGL_GREEN_SIZE
    0x3022, 8, // EGL_BLUE_SIZE
    0x3025, 24, // EGL_DEPTH_SIZE
    EGL_NONE,
];
/// The engine draws into its own buffers; the surface only has to exist.
const SURFACE: [c_int; 5] = [EGL_WIDTH, 16, EGL_HEIGHT, 16, EGL_NONE];
/// Devices asked for; more than a machine has.
const MAX_DEVICES: usize = 32;

/// EGL's functions. Copied out of a library that is never closed.
#[derive(Clone, Copy, Debug)]
struct Functions {
    get_proc: GetProc,
    get_error: unsafe extern "C" fn() -> c_int,
    get_display: unsafe extern "C" fn(Handle) -> Handle,
    initialize: unsafe extern "C" fn(Handle, *mut c_int, *mut c_int) -> c_uint,
    bind_api: unsafe extern "C" fn(c_uint) -> c_uint,
    choose_config:
        unsafe extern "C" fn(Handle, *const c_int, *mut Handle, c_int, *mut c_int) -> c_uint,
    create_surface: unsafe extern "C" fn(Handle, Handle, *const c_int) -> Handle,
    create_context: unsafe extern "C" fn(Handle, Handle, Handle, *const c_int) -> Handle,
    make_current: unsafe extern "C" fn(Handle, Handle, Handle, Handle) -> c_uint,
    current_context: unsafe extern "C" fn() -> Handle,
    destroy_context: unsafe extern "C" fn(Handle, Handle) -> c_uint,
    destroy_surface: unsafe extern "C" fn(Handle, Handle) -> c_uint,
}

/// A context with its surface.
#[derive(Debug)]
pub(super) struct Egl {
    functions: Functions,
    display: Handle,
    /// Null where the driver wants none.
    surface: Handle,
    context: Handle,
}

impl Functions {
    fn find(library: &Library) -> Result<Self, String> {
        // SAFETY: the types above are those of the EGL 1.5 header.
        unsafe {
            Ok(Self {
                get_proc: symbol(library, c"eglGetProcAddress")?,
                get_error: symbol(library, c"eglGetError")?,
                get_display: symbol(library, c"eglGetDisplay")?,
                initialize: symbol(library, c"eglInitialize")?,
                bind_api: symbol(library, c"eglBindAPI")?,
                choose_config: symbol(library, c"eglChooseConfig")?,
                create_surface: symbol(library, c"eglCreatePbufferSurface")?,
                create_context: symbol(library, c"eglCreateContext")?,
                make_current: symbol(library, c"eglMakeCurrent")?,
                current_context: symbol(library, c"eglGetCurrentContext")?,
                destroy_context: symbol(library, c"eglDestroyContext")?,
                destroy_surface: symbol(library, c"eglDestroySurface")?,
            })
        }
    }

    /// `what` and EGL's last error.
    fn failed(&self, what: &str) -> String {
        // SAFETY: takes nothing, returns a number.
        match unsafe { (self.get_error)() } {
            EGL_SUCCESS => format!("{what} failed"),
            code => format!("{what} failed with error {code:#x}"),
        }
    }

    /// Displays of all devices (GPUs first, a software device if there is one), then the default.
    fn displays(&self) -> Vec<(String, Handle)> {
        let mut displays = Vec::new();
        // SAFETY: the names end in zero; the answers are addresses or null.
        let (query, open) = unsafe {
            (
                (self.get_proc)(c"eglQueryDevicesEXT".as_ptr()),
                (self.get_proc)(c"eglGetPlatformDisplayEXT".as_ptr()),
            )
        };
        if !query.is_null() && !open.is_null() {
            type Query = unsafe extern "C" fn(c_int, *mut Handle, *mut c_int) -> c_uint;
            type Open = unsafe extern "C" fn(c_uint, Handle, *const c_int) -> Handle;
            // SAFETY: the signatures of EGL_EXT_device_enumeration and EGL_EXT_platform_base.
            let (query, open) = unsafe {
                (
                    std::mem::transmute::<*mut c_void, Query>(query),
                    std::mem::transmute::<*mut c_void, Open>(open),
                )
            };
            let (mut devices, mut count) = ([null_mut(); MAX_DEVICES], 0);
            // SAFETY: there is room for as many devices as it is told.
            let known =
                unsafe { query(MAX_DEVICES as c_int, devices.as_mut_ptr(), &raw mut count) };
            let count = if known == 0 { 0 } else { usize::try_from(count).unwrap_or(0) };
            for (index, device) in devices.iter().take(count).enumerate() {
                // SAFETY: the device is one that EGL just named; no attributes are given.
                let display = unsafe { open(EGL_PLATFORM_DEVICE_EXT, *device, null()) };
                displays.push((format!("device {index}"), display));
            }
        }
        // SAFETY: null is EGL_DEFAULT_DISPLAY.
        displays.push(("default display".into(), unsafe { (self.get_display)(null_mut()) }));
        displays
    }
}

impl Egl {
    /// The first display that gives a context, which is then current.
    pub(super) fn open(library: &Library) -> Result<Self, String> {
        let functions = Functions::find(library)?;
        let mut reasons = Vec::new();
        for (name, display) in functions.displays() {
            match Self::on_display(functions, display) {
                Ok(egl) => return Ok(egl),
                Err(reason) => reasons.push(format!("{name}: {reason}")),
            }
        }
        Err(reasons.join(", "))
    }

    fn on_display(functions: Functions, display: Handle) -> Result<Self, String> {
        if display.is_null() {
            return Err(functions.failed("opening it"));
        }
        // SAFETY: a display of this library; the version is not asked for. A display is shared by
        // the whole process, so that none is ever terminated here.
        if unsafe { (functions.initialize)(display, null_mut(), null_mut()) } == 0 {
            return Err(functions.failed("eglInitialize"));
        }
        // SAFETY: sets which API the next context of this thread is for.
        if unsafe { (functions.bind_api)(EGL_OPENGL_API) } == 0 {
            return Err(functions.failed("eglBindAPI (desktop OpenGL)"));
        }
        let (mut config, mut count) = (null_mut(), 0);
        // SAFETY: the list ends in EGL_NONE and there is room for one config.
        let chosen = unsafe {
            (functions.choose_config)(display, CONFIG.as_ptr(), &raw mut config, 1, &raw mut count)
        };
        if chosen == 0 || count < 1 {
            return Err(functions.failed("eglChooseConfig"));
        }
        // SAFETY: display and config are valid, nothing is shared, no attributes are given: the
        // newest version with all the old functions that the engine uses.
        let context = unsafe { (functions.create_context)(display, config, null_mut(), null()) };
        if context.is_null() {
            return Err(functions.failed("eglCreateContext"));
        }
        // SAFETY: as above; the list ends in EGL_NONE. Null where it fails, which many drivers
        // take as "no surface".
        let surface = unsafe { (functions.create_surface)(display, config, SURFACE.as_ptr()) };
        // From here on dropping it gives the parts back.
        let egl = Self { functions, display, surface, context };
        egl.make_current()?;
        Ok(egl)
    }

    pub(super) fn make_current(&self) -> Result<(), String> {
        let Self { functions, display, surface, context } = self;
        // SAFETY: all are alive as long as self. A handle of another thread's current context is
        // refused by EGL with an error.
        let made = unsafe {
            (functions.bind_api)(EGL_OPENGL_API) != 0
                && (functions.make_current)(*display, *surface, *surface, *context) != 0
                && (functions.current_context)() == *context
        };
        if made { Ok(()) } else { Err(functions.failed("eglMakeCurrent")) }
    }

    pub(super) fn get_proc(&self) -> GetProc {
        self.functions.get_proc
    }
}

impl Drop for Egl {
    fn drop(&mut self) {
        let Self { functions, display, surface, context } = self;
        // SAFETY: created by this display and not destroyed before; released first if current.
        unsafe {
            if (functions.current_context)() == *context {
                (functions.make_current)(*display, null_mut(), null_mut(), null_mut());
            }
            if !surface.is_null() {
                (functions.destroy_surface)(*display, *surface);
            }
            (functions.destroy_context)(*display, *context);
        }
    }
}

/// What the engine looks for to find EGL.
pub(super) const LOOKUP: &std::ffi::CStr = c"eglGetProcAddress";
