//! One robot: chain, limits, shapes, covering spheres, allowed pairs, forward and inverse kinematics.
