#!/usr/bin/env bash
# The real ROS 1 (Noetic, from Debian): installs what is missing, makes Python modules of
# control_msgs, and prints where they are. Quick when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

# Another apt may hold the lock.
for _ in $(seq 60); do
  scripts/apt.sh python3-rosmaster python3-rospy python3-actionlib python3-sensor-msgs \
    python3-trajectory-msgs python3-tf2-msgs python3-std-srvs ros-std-msgs ros-geometry-msgs \
    ros-sensor-msgs ros-trajectory-msgs ros-actionlib-msgs ros-tf2-msgs python3-numpy && break
  sleep 5
done
/usr/bin/python3 -c 'import rospy, actionlib, rosmaster' || {
  echo "ros1_peers.sh: no rospy; as root this script installs it" >&2
  exit 1
}
modules="${CITRANGE_CACHE:-$HOME/.cache/citrange}/peers/ros1"
if [[ ! -e $modules/control_msgs/msg/__init__.py ]]; then
  /usr/bin/python3 peers/ros1/gen_control_msgs.py "$modules" > /dev/null
fi
echo "$modules"
