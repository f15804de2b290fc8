#!/usr/bin/env bash
# Brings what a fresh machine lacks: a linker, a C++ compiler and an assembler (for the video
# encoder), python3 with pip and npm (to fetch packages), the MuJoCo library, the page's three.js.
# Quick when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*" >&2; }

need_apt=()
command -v cc >/dev/null || need_apt+=(gcc libc6-dev)
command -v c++ >/dev/null || need_apt+=(g++)
command -v python3 >/dev/null || need_apt+=(python3)
python3 -m pip --version >/dev/null 2>&1 || need_apt+=(python3-pip)
if ! scripts/web.sh >/dev/null 2>&1; then
  command -v npm >/dev/null || need_apt+=(npm)
fi
# Not needed, but the video encoder is more than twice as fast with it.
if ! command -v nasm >/dev/null; then
  if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    need_apt+=(nasm)
  else
    say "nasm is missing: the video encoder will be built without it and be half as fast"
  fi
fi
# Not needed either: tests use it to kill edits at every call that changes files.
if ! command -v strace >/dev/null; then
  if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    need_apt+=(strace)
  else
    say "strace is missing: tests will kill edits after chance delays only"
  fi
fi
if ((${#need_apt[@]})); then
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    say "missing: ${need_apt[*]}; install them with your system's package manager"
    exit 1
  fi
  say "installing ${need_apt[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${need_apt[@]}" >&2
fi
if ! command -v cargo >/dev/null; then
  say "cargo is missing: install Rust 1.95 or newer (rustup, or your system's packages)"
  exit 1
fi

# The engine, once per machine. The loader is its own small crate, so this builds in seconds.
if ! cargo run --quiet -p citrange-mujoco --example fetch -- --check 2>/dev/null; then
  cargo run --quiet -p citrange-mujoco --example fetch
fi

# The one library of the studio's page, once per machine.
scripts/web.sh >/dev/null
