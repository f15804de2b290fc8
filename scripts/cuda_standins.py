#!/usr/bin/env python3
"""Lets a torch that was built for CUDA start on a machine without CUDA's four gigabytes.

    cuda_standins.py SITE_PACKAGES

torch's libraries name about fifteen CUDA libraries that have to be there when it starts, though
nothing in them is called on the CPU. For each one this builds, with the C compiler, a library of
the same name whose functions all answer "no device".
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

CUDA = re.compile(r"lib(cu|nv|nccl)[A-Za-z_]*\.so\.\d+$")
UNVERSIONED = re.compile(r"(cu[A-Z]|cuda|cudnn|cublas|cufft|curand|cusolver|cusparse|nccl|nvshmem)")
# Every object loads this one first, so names without a version can be looked up in it.
COMMON = "libcudart.so.12"
NO_DEVICE = 100
# Functions that answer with words.
TEXTS = ("String", "ErrorName")


def readelf(option, file):
    return subprocess.run(
        ["readelf", "-W", option, file], check=True, capture_output=True, text=True
    ).stdout


def survey(files):
    """Libraries to stand in for: name to version to the functions that somebody calls."""
    needed, wanted, defined = set(), set(), set()
    version_of_library = {}
    for file in files:
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", file)))
        library = None
        for line in readelf("-V", file).splitlines():
            if found := re.search(r"File: (\S+)", line):
                library = found[1]
            elif library and (found := re.search(r"Name: (\S+)\s+Flags", line)):
                version_of_library[found[1]] = library
        for line in readelf("--dyn-syms", file).splitlines():
            words = line.split()
            if len(words) >= 8 and words[0].rstrip(":").isdigit():
                (wanted if words[6] == "UND" else defined).add(words[7])
    standins = {name: {} for name in needed if CUDA.match(name)}
    for symbol in sorted(wanted):
        name, _, version = symbol.partition("@")
        library = version_of_library.get(version) if version else COMMON
        if library not in standins or (not version and not UNVERSIONED.match(name)):
            continue
        if version or name not in defined:
            standins[library].setdefault(version, []).append(name)
    return standins


def build(library, functions, folder):
    source = [f"int {name}(void) {{ return {NO_DEVICE}; }}"
              for names in functions.values() for name in names if not name.endswith(TEXTS)]
    source += [f'const char *{name}(void) {{ return "stand-in: no device"; }}'
               for names in functions.values() for name in names if name.endswith(TEXTS)]
    nodes = [f"{version} {{ global: {' '.join(f'{name};' for name in names)} }};"
             for version, names in functions.items() if version]
    with tempfile.TemporaryDirectory() as work:
        code, script = Path(work, "standin.c"), Path(work, "standin.map")
        code.write_text("\n".join(source) + "\n")
        script.write_text("\n".join(nodes) + "\n")
        options = [f"-Wl,--version-script={script}"] if nodes else []
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-fno-builtin", "-w", f"-Wl,-soname,{library}", *options,
             code, "-o", folder / library],
            check=True,
        )


def main():
    site = Path(sys.argv[1])
    # torch looks for libraries in its own folder.
    folder = site / "torch" / "lib"
    files = [*folder.glob("lib*.so"), *(site / "torchvision").glob("*.so")]
    if not files:
        sys.exit(f"cuda_standins.py: no torch in {site}")
    for library, functions in survey(files).items():
        if not (folder / library).exists():
            build(library, functions, folder)


if __name__ == "__main__":
    main()
