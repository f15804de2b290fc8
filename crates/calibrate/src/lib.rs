//! Where a camera stands: from a cube, from pairs of points, and whether it drifted.
