#!/bin/sh
# Makes the Python environment of the peers in recordings, once, and prints its path.
set -eu

exec "$(dirname "$0")/venv.sh" recordings "rosbags and mcap (60 MB)" \
    mcap==1.6.0 mcap-ros2-support==0.6.0 numpy==2.4.6 pytest==8.4.2 rosbags==0.11.9
