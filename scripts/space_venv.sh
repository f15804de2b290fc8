#!/bin/sh
# Makes the Python environment of the peers in perception, once, and prints its path.
set -eu

here=$(dirname "$0")
# What Open3D's library is linked against, although nothing is drawn.
"$here/apt.sh" libegl1 libgl1 libgomp1 libidn2-0 libudev1 libusb-1.0-0 libx11-6

exec "$here/venv.sh" space "Open3D and scikit-learn (1.1 GB)" \
    numba==0.68.1 numpy==2.4.6 open3d-cpu==0.20.0 pytest==8.4.2 scikit-learn==1.9.1 scipy==1.17.1
