#!/usr/bin/env bash
# Fetches robot files as other people ship them in Python packages, with their meshes, once, and
# prints their folder: used where they lie, never copied into the tree.
set -euo pipefail

robots="${CITRANGE_CACHE:-$HOME/.cache/citrange}/peers/robots"
# Package and the Python that its wheel is for; nothing of them is run.
packages="gym-aloha==0.1.5:3.12 gym-hil==0.1.14:3.12 gymnasium-robotics==1.4.2:3.12 physicalai-so101-plugin==0.2.0:3.12 pybullet==3.2.7:3.11"

if [[ ! -e $robots/.ready || $(< "$robots/.ready") != "$packages" ]]; then
  echo "peers: fetching other people's robots (150 MB, 140 MB of them are kept)" >&2
  rm -rf "$robots" && mkdir -p "$robots"
  for package in $packages; do
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
      --python-version "${package##*:}" --dest "$robots" "${package%:*}" >&2
  done
  # Robots only: libraries and toys of a package are large.
  python3 - "$robots" <<'PYTHON'
import pathlib, sys, zipfile

keep = {"pybullet": [f"pybullet_data/{name}" for name in (
    "TwoJointRobot_w_fixedJoints.urdf", "a1/", "aliengo/", "cartpole.urdf", "franka_panda/",
    "gripper/", "humanoid/", "husky/", "kuka_iiwa/", "laikago/", "mini_cheetah/", "pendulum5.urdf",
    "pr2_gripper.urdf", "r2d2.urdf", "racecar/", "xarm/", "l_finger")]}
for wheel in pathlib.Path(sys.argv[1]).glob("*.whl"):
    name = wheel.name.split("-")[0]
    with zipfile.ZipFile(wheel) as archive:
        parts = keep.get(name, [""])
        wanted = [n for n in archive.namelist() if any(n.startswith(part) or f"/{part}" in n for part in parts)]
        archive.extractall(wheel.parent / name, wanted)
    wheel.unlink()
PYTHON
  echo "$packages" > "$robots/.ready"
fi
echo "$robots"
