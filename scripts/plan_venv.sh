#!/bin/sh
# Makes the Python environment of the peers in planning, once, and prints its path.
set -eu

exec "$(dirname "$0")/venv.sh" plan "coal and OMPL (0.7 GB)" \
    coal==3.0.3 numba==0.68.1 numpy==2.4.6 ompl==2.0.1 pytest==8.4.2
