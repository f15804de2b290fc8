#!/bin/sh
# Puts onnxruntime, onnx and Stable-Baselines3 beside the environment of lerobot, which has torch already,
# once, and prints where they are: for PYTHONPATH.
set -eu

folder="${CITRANGE_CACHE:-$HOME/.cache/citrange}/peers/policy"
packages="onnxruntime==1.31.1 flatbuffers==25.12.19 stable-baselines3==2.9.2 onnx==1.23.2 protobuf==7.36.2 ml_dtypes==0.6.0"
mkdir -p "${folder%/*}"
# Two clones may ask at the same time; the second waits for the first.
if command -v flock >/dev/null; then exec 9> "$folder.lock" && flock 9; fi
if [ ! -f "$folder/.ready" ] || [ "$(cat "$folder/.ready")" != "$packages" ]; then
    echo "policy_peers.sh: installing onnxruntime and Stable-Baselines3 (0.1 GB), once" >&2
    rm -rf "$folder"
    python=$("$(dirname "$0")/lerobot_venv.sh")/bin/python
    # shellcheck disable=SC2086 # several words
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" \
        $packages >&2
    printf '%s\n' "$packages" > "$folder/.ready"
fi
echo "$folder"
