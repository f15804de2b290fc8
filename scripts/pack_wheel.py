#!/usr/bin/env python3
"""Packs the Python package with a module that cargo has built already: pack_wheel.py MODULE FOLDER.

For tests, which have the module from `make test`: `make wheel` has maturin build it as it is given
away. Prints the wheel's path.
"""

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TAG = "cp311-abi3-linux_x86_64"


def metadata(project: dict, version: str) -> str:
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}"]
    lines += [f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {need}" for need in project["dependencies"]]
    for extra, needs in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {need} ; extra == "{extra}"' for need in needs]
    return "\n".join(lines) + "\n"


def main() -> None:
    module, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    name, version = project["name"], workspace["version"]
    info = f"{name}-{version}.dist-info"
    scripts = "".join(f"{key} = {value}\n" for key, value in project["scripts"].items())
    files: dict[str, bytes] = {}
    for path in sorted((ROOT / "python" / name).rglob("*")):
        if path.is_file() and path.suffix in (".py", ".pyi", ".typed"):
            files[str(path.relative_to(ROOT / "python"))] = path.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        # Lines of a debug build are most of it.
        small = os.path.join(scratch, "module.so")
        subprocess.run(["strip", "-g", "-o", small, os.fspath(module)], check=True)
        files[f"{name}/_{name}.abi3.so"] = pathlib.Path(small).read_bytes()
    files[f"{info}/METADATA"] = metadata(project, version).encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: pack_wheel\nRoot-Is-Purelib: false\nTag: {TAG}\n"
    ).encode()
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()

    def digest(data: bytes) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")

    record = "".join(f"{key},sha256={digest(data)},{len(data)}\n" for key, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = folder / f"{name}-{version}-{TAG}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for key, data in files.items():
            archive.writestr(key, data)
    print(wheel)


if __name__ == "__main__":
    main()
