//! SIMD for every crate: vectors of lanes, sine and cosine, instruction sets as tokens.
