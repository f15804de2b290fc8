#!/usr/bin/env bash
# Tests against big real peers. They live in a cache folder outside the clone, installed once.
set -euo pipefail
cd "$(dirname "$0")/.."

cache="${CITRANGE_CACHE:-$HOME/.cache/citrange}"
say() { echo "peers: $*" >&2; }

# Licences and sources of every dependency.
deny="$cache/tools/bin/cargo-deny"
if [[ ! -x $deny ]]; then
  say "building cargo-deny (once, some minutes)"
  cargo install --quiet --locked cargo-deny --version 0.20.2 --root "$cache/tools"
fi
"$deny" --log-level error check licenses bans sources

# Robot files as other people ship them.
CITRANGE_PEER_ROBOTS=$(scripts/peer_robots.sh)
CITRANGE_PEER_ROBOSUITE="$cache/peers/robosuite"
export CITRANGE_PEER_ROBOTS CITRANGE_PEER_ROBOSUITE

# The real MuJoCo, ffmpeg and h5py in Python, and a real browser.
venv=$(scripts/peers.sh)
# The other environments are fetched while we build.
(scripts/python_venv.sh && scripts/ros1_peers.sh && scripts/space_venv.sh && scripts/recordings_venv.sh && scripts/plan_venv.sh && scripts/robosuite_venv.sh && scripts/lerobot_venv.sh && scripts/policy_peers.sh) > /dev/null &
fetching=$!
# What `make test` has built already: a release build would take minutes more.
cargo build --quiet --workspace --lib --bins --examples
wait "$fetching"
built="${CARGO_TARGET_DIR:-$PWD/target}/debug"
export CITRANGE_BIN="$built/citrange" CITRANGE_BENCH_BIN="$built/citrange-bench"
export CITRANGE_MAKE_MOVIE="$built/examples/make_movie"
export CITRANGE_HDF5_FILES="$built/examples/hdf5_files"
export CITRANGE_MAKE_RECORDING="$built/examples/make_recording"
# Driven by keys in a browser; lerobot reads it below.
driven=$(mktemp -d)
trap 'rm -rf "$driven"' EXIT
export CITRANGE_DRIVEN="$driven/set"
"$venv/bin/python" -m pytest -q peers --ignore-glob='*lerobot*' --ignore-glob='*test_python*' --ignore=peers/test_space.py --ignore=peers/test_recordings.py --ignore=peers/test_plan.py --ignore=peers/test_robosuite.py --ignore=peers/test_policy.py --ignore=peers/test_ros1.py --ignore=peers/ros1

# The real rosmaster, rospy and actionlib.
CITRANGE_ROS1_MODULES=$(scripts/ros1_peers.sh) "$venv/bin/python" -m pytest -q peers/test_ros1.py

# The Python package, out of a wheel, in an environment of its own.
wheels=$(mktemp -d)
trap 'rm -rf "$driven" "$wheels"' EXIT
CITRANGE_WHEEL=$(scripts/pack_wheel.py "$built/lib_citrange.so" "$wheels")
export CITRANGE_WHEEL
venv=$(scripts/python_venv.sh)
"$venv/bin/python" -m pytest -q -W ignore peers/test_python.py

# Our voxels and outliers beside Open3D's and scikit-learn's.
venv=$(scripts/space_venv.sh)
"$venv/bin/python" -m pytest -q peers/test_space.py

# Recordings of rosbags and mcap are read, ours are read by mcap.
venv=$(scripts/recordings_venv.sh)
"$venv/bin/python" -m pytest -q peers/test_recordings.py

# Our paths, judged by coal.
venv=$(scripts/plan_venv.sh)
"$venv/bin/python" -m pytest -q peers/test_plan.py

# Recordings of the real robosuite, in a scene of ours and in their own model.
venv=$(scripts/robosuite_venv.sh)
"$venv/bin/python" -m pytest -q -W ignore peers/test_robosuite.py

# The real lerobot reads what we record. It brings a numpy of its own, hence a second environment.
venv=$(scripts/lerobot_venv.sh)
"$venv/bin/python" -m pytest -q -W ignore --show-capture=no peers/test_lerobot.py peers/test_lerobot_training.py peers/test_lerobot_bus.py

# Networks of Stable-Baselines3, torch and onnxruntime beside ours.
CITRANGE_RUN_NETWORK="$built/examples/run_network" PYTHONPATH=$(scripts/policy_peers.sh) \
  "$venv/bin/python" -m pytest -q -W ignore --show-capture=no peers/test_policy.py
# It drives and records our arm by its own commands; beside it Stable-Baselines3 learns.
CITRANGE_SB3=$(scripts/policy_peers.sh)
export CITRANGE_SB3
"$venv/bin/python" -m pytest -q -W ignore --show-capture=no peers/test_lerobot_plugin.py
