//! The page's files, inside the program.

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) bytes: &'static [u8],
    /// Whether the path changes when the content does.
    pub(crate) versioned: bool,
}

/// The page itself.
pub(crate) const PAGE: &str = include_str!("../web/index.html");

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
const ICON: &str = "image/svg+xml";

macro_rules! ours {
    ($kind:expr, $file:literal) => {
        Asset {
            path: concat!("/", $file),
            kind: $kind,
            bytes: include_bytes!(concat!("../web/", $file)),
            versioned: false,
        }
    };
}

macro_rules! three {
    ($kind:expr, $file:literal) => {
        Asset {
            path: concat!("/three-0.178.0/", $file),
            kind: $kind,
            bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $file)),
            versioned: true,
        }
    };
}

/// Everything else, but the elements.
const ALL: &[Asset] = &[
    ours!(STYLE, "studio.css"),
    ours!(ICON, "icon.svg"),
    ours!(SCRIPT, "again.js"),
    ours!(SCRIPT, "autopilot.js"),
    ours!(SCRIPT, "bars.js"),
    ours!(SCRIPT, "cameras.js"),
    ours!(SCRIPT, "drive.js"),
    ours!(SCRIPT, "gamepad.js"),
    ours!(SCRIPT, "keys.js"),
    ours!(SCRIPT, "last.js"),
    ours!(SCRIPT, "link.js"),
    ours!(SCRIPT, "main.js"),
    ours!(SCRIPT, "meter.js"),
    ours!(SCRIPT, "orbit.js"),
    ours!(SCRIPT, "plots.js"),
    ours!(SCRIPT, "shapes.js"),
    ours!(SCRIPT, "view.js"),
    ours!(SCRIPT, "window.js"),
    ours!(SCRIPT, "worker.js"),
    three!(SCRIPT, "three.module.min.js"),
    three!(SCRIPT, "three.core.min.js"),
    three!(PLAIN, "LICENSE"),
    Asset {
        path: "/elements.js",
        kind: SCRIPT,
        bytes: include_bytes!(concat!(env!("OUT_DIR"), "/elements.js")),
        versioned: false,
    },
];

// `ELEMENTS`: the files of `web/elements`, and `elements.js`, which names them, are found when this
// crate is built.
include!(concat!(env!("OUT_DIR"), "/elements.rs"));

/// A file of the page by its path.
pub(crate) fn at(path: &str) -> Option<&'static Asset> {
    ALL.iter().chain(ELEMENTS).find(|asset| asset.path == path)
}
