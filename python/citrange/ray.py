"""Many machines: shards of a collection as tasks of Ray, put together in order.

A shard is a function of its index, so a worker that dies is simply replaced; the result is what one
machine would have made, byte for byte. Shards are written below ``scratch``, which all machines must
see (shared storage); by default beside the dataset.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

from .dataset import Dataset
from .verbs import collect as collect_here
from .verbs import merge

__all__ = ["collect"]


def _shard(scene: str | None, folder: str, part: str, settings: dict[str, Any]) -> int:
    """Makes a part, from nothing: what an earlier try left is thrown away."""
    shutil.rmtree(folder, ignore_errors=True)
    return len(collect_here(scene, folder, shard=part, workers=1, **settings))


def collect(
    scene: str | None, out: str | os.PathLike[str], *, episodes: int, shards: int | None = None,
    scratch: str | os.PathLike[str] | None = None, max_retries: int = 10, progress: bool = True,
    **settings: Any,
) -> Dataset:
    """Collects on the Ray cluster that is there, or on a local one.

    ``shards``: two for each processor of the cluster when ``None``. ``settings`` are those of
    :func:`citrange.collect`.
    """
    try:
        import ray
    except ImportError as error:
        raise ImportError('citrange.ray needs Ray: pip install "citrange[ray]"') from error
    out = os.path.abspath(os.fspath(out))
    if os.path.exists(os.path.join(out, "meta", "info.json")):
        raise FileExistsError(f"{out} is a dataset already")
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    cores = int(ray.cluster_resources().get("CPU", 1))
    count = min(shards or 2 * cores, episodes)
    folder = os.path.abspath(os.fspath(scratch)) if scratch else f"{out}.shards"
    task = ray.remote(num_cpus=1, max_retries=max_retries)(_shard)
    parts = [os.path.join(folder, f"{index:05}") for index in range(count)]
    wanted = {**settings, "episodes": episodes}
    waiting = {
        task.remote(scene, part, f"{index}/{count}", wanted): part
        for index, part in enumerate(parts)
    }
    done = 0
    while waiting:
        ready, _ = ray.wait(list(waiting), num_returns=1)
        for reference in ready:
            del waiting[reference]
            done += ray.get(reference)
            if progress:
                print(f"\rcitrange.ray: {done} of {episodes} episodes", end="", flush=True)
    if progress:
        print()
    # One part is the whole of it.
    if count == 1:
        os.replace(parts[0], out)
    else:
        merge(parts, out)
    shutil.rmtree(folder, ignore_errors=True)
    return Dataset(out)
