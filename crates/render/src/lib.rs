//! Software cameras: rgb, depth in metres and instance ids in one pass, on the CPU.
