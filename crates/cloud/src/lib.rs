//! Point clouds and depth pictures: files, messages of ROS, intrinsics.
