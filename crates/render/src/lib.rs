//! Software cameras: rgb, depth in metres and instance ids in one pass, on the CPU.
//!
//! No GPU, no OpenGL and no system package is needed, and the same input gives the same bits on
//! every x86-64 machine, for any number of threads.
//!
//! # Words
//! * A [`SceneModel`] says what there is: [`Instance`]s (a [`Shape`], a [`Material`], an id),
//!   [`Light`]s and a [`Sky`]. It is cheap to clone, so that each environment can have its own
//!   colours and lights.
//! * A [`Placement`] per instance says where it is, in one environment at one time.
//! * A [`Camera`] is a pinhole that looks along its -Z, with +Y up and +X right, as in MuJoCo.
//! * A [`Frame`] receives the three images. A [`Renderer`] makes them; [`RenderPool`] makes many
//!   of them over the threads of rayon. Both keep their memory from frame to frame.
//!
//! # A first frame
//! ```
//! use citrange_render::{
//!     Camera, Frame, Instance, Light, Material, Placement, Renderer, SceneModel, Settings, Shape,
//! };
//!
//! let floor = Instance {
//!     shape: Shape::Plane { half_m: [None, None] },
//!     material: Material::rgb(0.6, 0.6, 0.6),
//!     id: 0,
//!     casts_shadow: false,
//! };
//! let orange = Instance {
//!     shape: Shape::Sphere { radius_m: 0.04 },
//!     material: Material::rgb(1.0, 0.5, 0.0),
//!     id: 7,
//!     casts_shadow: true,
//! };
//! let model = SceneModel {
//!     instances: vec![floor, orange],
//!     lights: vec![Light::default()],
//!     ambient: [0.3; 3],
//!     ..SceneModel::default()
//! };
//! let placements = [Placement::default(), Placement::at(0.0, 0.0, 0.04)];
//! // From 0.5 m away, looking at the orange.
//! let camera = Camera::look_at([0.3, 0.0, 0.44], [0.0, 0.0, 0.04], 0.8, 65, 49);
//!
//! let mut frame = Frame::new();
//! Renderer::new().render(&model, &placements, &camera, &Settings::default(), &mut frame)?;
//!
//! let middle = 24 * 65 + 32;
//! assert_eq!(frame.ids[middle], 7);
//! assert!((frame.depth[middle] - 0.46).abs() < 1e-6);
//! let [r, g, b] = [0, 1, 2].map(|k| frame.rgb[3 * middle + k]);
//! assert!(r > g && g > b);
//! # Ok::<(), citrange_render::RenderError>(())
//! ```
//!
//! # What the images mean
//! * `depth` is the distance along the optical axis (not along the ray) of the surface met by the
//!   ray through the pixel's centre; infinity where there is none.
//! * `ids` is the [`Instance::id`] of that surface; -1 where there is none.
//! * `rgb` is shaded with Lambert and Blinn-Phong per light and no gamma. Pixels at silhouettes
//!   and creases are the mean of several samples ([`Antialias`]); depth and ids never are.
//! * Surfaces are seen from outside only. A camera inside a shape does not see it.
//! * Materials with an alpha below 1 are blended over what is behind them, in depth order. From
//!   alpha 0.5 on they are in depth and ids, and block light.
//!
//! # How it works
//! 1. `view`: each instance gets its frame and screen bounds as seen by the camera, and goes
//!    into the lists of the 16x16 tiles it may touch, from front to back.
//! 2. `hit`: per tile, rays meet primitives by formula and triangles by edge functions, 16 lanes
//!    at a time with AVX-512, 8 with AVX2 (`lanes`). What belongs to the tile's centre is
//!    computed in double precision, the small rest in single: depth is good to about 1e-7 m.
//! 3. `shadow`: the same code draws a map for each light with shadows, where visible points need it.
//! 4. `shade`: the surfaces met are shaded in their own frame, to which lights were brought.
//! 5. `edges`: pixels beside another instance or on a crease are drawn again, finer.
//!
//! # Limits
//! Not here: reflections, refraction, height fields, skins, fog. Planes cast no shadow. The map
//! of a point light covers at most 140 degrees towards the shadow casters. Antialiasing finds
//! edges between pixel centres: what is thinner than a pixel may still flicker.

mod arrange;
mod batch;
mod bounds;
mod camera;
mod edges;
mod error;
mod fine;
mod geom;
mod glass;
mod hit;
mod image;
pub mod letters;
mod lights;
mod math;
mod packet;
mod render;
mod scene;
mod settings;
mod shade;
mod shadow;
mod shape;
mod surface;
mod texture;
mod vec3;
mod view;

pub use batch::{Job, RenderPool};
pub use camera::{Camera, Intrinsics};
pub use citrange_core::shape::{Mesh, MeshError, Shape};
pub use error::RenderError;
pub use image::{Image, ImageError};
pub use render::Renderer;
pub use scene::{Headlight, Instance, Light, LightKind, Material, Placement, SceneModel, Sky};
pub use settings::{Antialias, Frame, Settings};
pub use shape::{MAX_SIZE_M, MIN_SIZE_M};
pub use texture::Texture;
