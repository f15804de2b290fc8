//! Code that is written once and compiled for every instruction set.

use crate::simd::Simd;

/// A computation that [`Isa::run`](crate::Isa::run) compiles for each instruction set. Mark `run`
/// and what it calls `#[inline(always)]`: only what is inlined is compiled for the set. (A
/// closure would not be: that is why a kernel is a type.)
pub trait Kernel {
    /// What it answers.
    type Output;

    /// Does it. Vectors are made with the token; plain loops need it not, the compiler has the
    /// set's registers for them too.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// Writes a function that takes an [`Isa`](crate::Isa) and runs a body compiled for it. The first
/// argument names the token in the body; its type there is `S`.
///
/// ```
/// # use citrange_lanes::{Isa, kernel};
/// kernel! {
///     /// Adds the second numbers to the first.
///     pub(crate) fn add_all(simd, to: &mut [f32], from: &[f32]) -> usize {
///         plain_add_all(to, from)
///     }
/// }
///
/// #[inline(always)]
/// fn plain_add_all(to: &mut [f32], from: &[f32]) -> usize {
///     to.iter_mut().zip(from).map(|(a, b)| *a += b).count()
/// }
///
/// let mut sums = [1.0; 20];
/// assert_eq!(add_all(Isa::best(), &mut sums, &[2.0; 20]), 20);
/// assert_eq!(sums, [3.0; 20]);
/// ```
#[macro_export]
macro_rules! kernel {
    (
        $(#[$meta:meta])*
        $visible:vis fn $name:ident($simd:ident $(, $argument:ident: $type:ty)* $(,)?)
        $(-> $output:ty)? $body:block
    ) => {
        $(#[$meta])*
        $visible fn $name(isa: $crate::Isa $(, $argument: $type)*) $(-> $output)? {
            // Generic over its fields, so that their lifetimes need no names.
            #[allow(non_camel_case_types, reason = "parameters are named as the arguments")]
            struct Call<$($argument),*>($($argument),*);
            impl $crate::Kernel for Call<$($type),*> {
                type Output = $crate::kernel!(@output $($output)?);
                #[inline(always)]
                fn run<S: $crate::Simd>(self, $simd: S) -> Self::Output {
                    let _ = $simd;
                    let Self($($argument),*) = self;
                    $body
                }
            }
            isa.run(Call($($argument),*))
        }
    };
    (@output) => { () };
    (@output $output:ty) => { $output };
}
