//! SIMD for every crate: vectors of lanes, sine and cosine, instruction sets as tokens.
//!
//! Kernels are written once, generic over an instruction set, and compiled for each. What the
//! processor has is asked at run time; every set gives the same answers to the bit.
//!
//! ```
//! use citrange_lanes::{F32x16, Isa, Kernel, LANES, Simd};
//!
//! /// Lengths of vectors in the plane.
//! struct Lengths<'a> {
//!     x: &'a [f32; LANES],
//!     y: &'a [f32; LANES],
//! }
//!
//! impl Kernel for Lengths<'_> {
//!     type Output = [f32; LANES];
//!
//!     #[inline(always)]
//!     fn run<S: Simd>(self, simd: S) -> [f32; LANES] {
//!         let (x, y) = (simd.load(self.x), simd.load(self.y));
//!         (x * x + y * y).sqrt().to_array()
//!     }
//! }
//!
//! let (x, y) = ([3.0; LANES], [4.0; LANES]);
//! assert_eq!(Isa::best().run(Lengths { x: &x, y: &y }), [5.0; LANES]);
//! // Every set that this processor has gives the bits of the reference.
//! for isa in Isa::available() {
//!     assert_eq!(isa.run(Lengths { x: &x, y: &y }), Isa::SCALAR.run(Lengths { x: &x, y: &y }));
//! }
//! ```
//!
//! # Tokens
//! [`Avx2`] and [`Avx512`] have no public constructor: only `detect` makes them, by asking the
//! processor. Vectors are made with a token, so a vector is a proof that its instructions are
//! there, and all of its methods are safe to call. An [`Isa`] is a token chosen at run time:
//!
//! ```compile_fail
//! let forged = citrange_lanes::Avx512(());
//! ```
//!
//! # Widths
//! A vector is as wide as the widest register: sixteen numbers of 32 bits ([`F32x16`],
//! [`I32x16`]) or eight of 64 ([`F64x8`]). Narrower sets hold it in several registers, so that
//! buffers, masks and results do not depend on the machine.
//!
//! # Kernels
//! A [`Kernel`] is a type with one generic method; [`kernel!`] writes it for a function. Plain
//! loops profit as well: they are compiled for the set's registers. What a kernel calls must be
//! `#[inline(always)]`, or it is compiled for no set at all. So no closures over vectors, and no
//! `map` or `from_fn` on arrays of them: the compiler inlines these as it pleases, and one that it
//! does not costs a call for each operation. (`scripts/inlined.sh` looks for such calls.)
//!
//! # Memory
//! Loads and stores take arrays, or check slices. Gathers and scatters check every lane.

mod f32x16;
mod f64x8;
mod i32x16;
mod i32x8;
mod isa;
mod kernel;
mod mask;
mod registers;
mod simd;
mod sine;
mod triple;

pub use f32x16::{F32x16, TO_WHOLE};
pub use f64x8::F64x8;
pub use i32x8::{I32x8, U64x8, widen_colours};
pub use i32x16::I32x16;
pub use isa::{Avx2, Avx512, Isa, Scalar};
pub use kernel::Kernel;
pub use mask::Mask;
pub use simd::Simd;
pub use triple::{Triple, add, along, cross, dot, rotated, scale, store, sub};

/// Lanes of 32 bits in a vector.
pub const LANES: usize = 16;

/// Sixteen numbers in memory, at an address that suits every register.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes(pub [f32; LANES]);

impl Lanes {
    /// The same number in all lanes.
    #[inline(always)]
    #[must_use]
    pub const fn splat(number: f32) -> Self {
        Self([number; LANES])
    }
}
