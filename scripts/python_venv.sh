#!/bin/sh
# Makes the environment in which the Python package is built, checked and tested, once, and prints
# its path.
set -eu

exec "$(dirname "$0")/venv.sh" python "gymnasium, maturin and a type checker (400 MB)" \
    gymnasium==1.4.0 maturin==1.16.0 mujoco==3.17.0 mypy==1.18.2 numpy==2.4.6 pytest==8.4.2
