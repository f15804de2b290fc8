//! Demonstrations in HDF5: the layout of single-episode demo files and that of robomimic.
