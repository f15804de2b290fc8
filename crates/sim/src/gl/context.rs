//! A context of whichever kind this machine has, and the reasons where it has none.
#![allow(unsafe_code)]

use std::sync::Mutex;

use super::egl::{self, Egl};
use super::functions::{Driver, GetProc};
use super::library::{self, Names};
use super::osmesa::{self, Osmesa};
use crate::error::SimError;

/// Which OpenGL to draw with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GlKind {
    /// EGL, and where that fails OSMesa.
    #[default]
    Auto,
    /// EGL: the GPU, or Mesa's software driver.
    Egl,
    /// OSMesa: software, needs neither display nor device.
    Osmesa,
}

impl GlKind {
    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "OpenGL",
            Self::Egl => "EGL",
            Self::Osmesa => "OSMesa",
        }
    }
}

/// The kind that the engine took its OpenGL functions from: it does so once per process.
static ENGINE_USES: Mutex<Option<GlKind>> = Mutex::new(None);

#[derive(Debug)]
enum Handle {
    Egl(Egl),
    Osmesa(Osmesa),
}

/// A context that was current, and with checked abilities, when it was made.
#[derive(Debug)]
pub(super) struct Context {
    handle: Handle,
    pub(super) driver: Driver,
    /// The library that it came from.
    library: &'static str,
}

impl Context {
    /// Tries what `kind` asks for and makes the first that works current.
    pub(super) fn open(kind: GlKind, names: &Names) -> Result<Self, SimError> {
        let mut tried = Vec::new();
        if kind != GlKind::Osmesa {
            match Self::with(names.egl, |library| Egl::open(library).map(Handle::Egl)) {
                Ok(context) => return Ok(context),
                Err(reason) => tried.push(format!("EGL ({}): {reason}", names.egl)),
            }
        }
        if kind != GlKind::Egl {
            for name in names.osmesa {
                match Self::with(name, |library| Osmesa::open(library).map(Handle::Osmesa)) {
                    Ok(context) => return Ok(context),
                    Err(reason) => tried.push(format!("OSMesa ({name}): {reason}")),
                }
            }
        }
        Err(SimError::NoGl { tried: tried.join("; ") })
    }

    fn with(
        name: &'static str,
        open: impl FnOnce(&libloading::os::unix::Library) -> Result<Handle, String>,
    ) -> Result<Self, String> {
        let library = library::open(name)?;
        let handle = open(&library);
        // Drivers leave threads and exit handlers behind: no OpenGL library is ever closed.
        std::mem::forget(library);
        let handle = handle?;
        // SAFETY: the handle was just made current, and the lookup is that of its library.
        let driver = unsafe { Driver::ask(handle.get_proc()) }?;
        Ok(Self { handle, driver, library: name })
    }

    /// A context for the engine to draw with, of the kind that the engine already uses, if any.
    pub(super) fn for_engine(kind: GlKind, names: &Names) -> Result<Self, SimError> {
        let mut uses = ENGINE_USES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let kind = match (*uses, kind) {
            (Some(used), wanted) if wanted == used || wanted == GlKind::Auto => used,
            (Some(used), wanted) => {
                return Err(SimError::Gl(format!(
                    "this process already draws with {}, and MuJoCo cannot change to {}; use \
                     another process",
                    used.name(),
                    wanted.name()
                )));
            }
            (None, wanted) => wanted,
        };
        let context = Self::open(kind, names)?;
        if uses.is_none() {
            context.publish().map_err(SimError::Gl)?;
            *uses = Some(context.kind());
        }
        Ok(context)
    }

    /// Lets the engine find this context's library, and no other before it.
    fn publish(&self) -> Result<(), String> {
        library::publish(self.library)?;
        // The engine takes EGL before OSMesa where the process shows it both, and would then call
        // functions that have no current context.
        let hidden_by_egl = self.kind() == GlKind::Osmesa && library::is_public(egl::LOOKUP);
        if hidden_by_egl || !library::is_public(self.lookup()) {
            return Err(format!(
                "MuJoCo would not find {} in this process, because another OpenGL library is \
                 loaded before it",
                self.kind().name()
            ));
        }
        Ok(())
    }

    fn lookup(&self) -> &'static std::ffi::CStr {
        match self.handle {
            Handle::Egl(_) => egl::LOOKUP,
            Handle::Osmesa(_) => osmesa::LOOKUP,
        }
    }

    pub(super) fn kind(&self) -> GlKind {
        match self.handle {
            Handle::Egl(_) => GlKind::Egl,
            Handle::Osmesa(_) => GlKind::Osmesa,
        }
    }

    /// For example `EGL (Mesa/X.org, llvmpipe (LLVM 15.0.6, 256 bits))`.
    pub(super) fn description(&self) -> String {
        format!("{} ({}, {})", self.kind().name(), self.driver.vendor, self.driver.renderer)
    }

    /// Makes it current on this thread and checks that it is.
    pub(super) fn make_current(&self) -> Result<(), String> {
        match &self.handle {
            Handle::Egl(egl) => egl.make_current(),
            Handle::Osmesa(osmesa) => osmesa.make_current(),
        }
    }
}

impl Handle {
    fn get_proc(&self) -> GetProc {
        match self {
            Self::Egl(egl) => egl.get_proc(),
            Self::Osmesa(osmesa) => osmesa.get_proc(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: Names =
        Names { egl: "libEGL_citrange_missing.so.1", osmesa: &["libOSMesa_citrange_missing.so.8"] };

    #[test]
    fn missing_libraries_are_an_error_with_reasons_and_cure() {
        for (kind, named, silent) in [
            (GlKind::Auto, vec![MISSING.egl, MISSING.osmesa[0]], None),
            (GlKind::Egl, vec![MISSING.egl], Some(MISSING.osmesa[0])),
            (GlKind::Osmesa, vec![MISSING.osmesa[0]], Some(MISSING.egl)),
        ] {
            for error in [Context::open(kind, &MISSING), Context::for_engine(kind, &MISSING)] {
                let error = error.expect_err("no such library").to_string();
                for text in named.iter().chain(&[
                    "cannot open shared object file",
                    "apt-get install libegl1 libgl1-mesa-dri",
                    "libosmesa6",
                    "software renderer needs none",
                ]) {
                    assert!(error.contains(text), "{text:?} is not in {error:?}");
                }
                if let Some(text) = silent {
                    assert!(!error.contains(text), "{text:?} is in {error:?}");
                }
            }
        }
    }

    #[test]
    fn a_library_that_is_not_opengl_is_an_error() {
        let names = Names { egl: "libm.so.6", osmesa: &["libm.so.6"] };
        let error = Context::open(GlKind::Auto, &names).expect_err("not OpenGL").to_string();
        assert!(error.contains("eglGetProcAddress"), "{error}");
        assert!(error.contains("OSMesaGetProcAddress"), "{error}");
    }
}
