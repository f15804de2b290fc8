#!/bin/sh
# Makes the Python environment of the real robosuite, once, and prints its path.
set -eu

here=$(dirname "$0")
# What OpenCV and MuJoCo's bindings are linked against, although nothing is drawn.
"$here/apt.sh" libegl1 libgl1 libglib2.0-0

# robosuite 1.5.2 does not start with newer engines, and its mink wants numpy 1.
exec "$here/venv.sh" robosuite "robosuite (1.3 GB)" \
    h5py==3.16.0 mujoco==3.3.7 numpy==1.26.4 opencv-python==4.11.0.86 pytest==8.4.2 robosuite==1.5.2
