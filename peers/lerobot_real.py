"""What is wrong with a dataset, asked of the real lerobot: `problems(folder)`.

The folder is read twice, once as plain files (parquet, JSON, mp4) and once through lerobot's own
`LeRobotDataset`, and the two have to agree on every row and every picture. Nothing is fetched:
lerobot asks the hub for whatever it misses, so sockets are refused.
"""

import atexit
import json
import logging
import os
import shutil
import socket
import tempfile
import warnings
from pathlib import Path

CACHE = tempfile.mkdtemp(prefix="citrange-lerobot-")
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)
os.environ.update(
    HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HOME=CACHE, HF_DATASETS_CACHE=f"{CACHE}/arrow",
    HF_LEROBOT_HOME=f"{CACHE}/lerobot", TOKENIZERS_PARALLELISM="false", SVT_LOG="0",
)
os.environ.setdefault("OMP_NUM_THREADS", "1")
warnings.filterwarnings("ignore")


class _LocalSocket(socket.socket):
    def connect(self, address):
        if self.family != socket.AF_UNIX:
            raise OSError(f"no network in these tests: {address}")
        return super().connect(address)


socket.socket = _LocalSocket

import av  # noqa: E402  the environment has to be set before these
import datasets  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import torch  # noqa: E402
from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402
from lerobot.datasets.video_utils import _default_decoder_cache  # noqa: E402
from lerobot_stats import Pictures, check_camera_stats, check_numbers  # noqa: E402

logging.disable(logging.WARNING)
av.logging.set_libav_level(av.logging.ERROR)
datasets.disable_progress_bars()
torch.set_num_threads(1)

COUNTED = ("timestamp", "frame_index", "episode_index", "index", "task_index")
TOLERANCE_S = 1e-4
# Two FFmpegs may round a colour differently; another frame differs by more, somewhere.
PICTURE_STEPS = 3


def load(root, backend="torchcodec", **options):
    """The real reader, with nothing remembered from an earlier state of the same files."""
    _default_decoder_cache.clear()
    return LeRobotDataset("local/peer", root=root, video_backend=backend, **options)


class Files:
    """The folder as plain files: `info`, `stats`, `tasks`, `episodes` and `rows` (a DataFrame)."""

    def __init__(self, root):
        self.root = Path(root)
        self.info = json.loads((self.root / "meta/info.json").read_text())
        self.stats = json.loads((self.root / "meta/stats.json").read_text())
        self.tasks = pd.read_parquet(self.root / "meta/tasks.parquet")
        self.features = self.info["features"]
        self.episodes = [row for path in sorted(self.root.glob("meta/episodes/*/*.parquet"))
                         for row in pq.read_table(path).to_pylist()]
        self.cameras = [k for k, f in self.features.items() if f["dtype"] in ("image", "video")]
        self.videos = [k for k in self.cameras if self.features[k]["dtype"] == "video"]
        parts = []
        for path in sorted(self.root.glob("data/*/*.parquet")):
            names = [n for n in pq.read_schema(path).names if n not in self.cameras]
            part = pq.read_table(path, columns=names).to_pandas()
            parts.append(part.assign(file=str(path.relative_to(self.root))))
        self.rows = pd.concat(parts, ignore_index=True)
        self.fps = self.info["fps"]

    def numbers(self, feature):
        """A column as (rows, width) in float64."""
        return np.stack([np.atleast_1d(v) for v in self.rows[feature]]).astype(np.float64)

    def vectors(self):
        return [k for k, f in self.features.items()
                if k not in self.cameras and f["dtype"] != "string"]

    def video(self, camera, episode):
        return self.info["video_path"].format(
            video_key=camera, chunk_index=episode[f"videos/{camera}/chunk_index"],
            file_index=episode[f"videos/{camera}/file_index"],
        )

    def size(self, camera):
        """(height, width) of a camera."""
        return tuple(self.features[camera]["shape"][:2])


def problems(root, backends=("torchcodec", "pyav"), own_std=True, gaps=False):
    """Everything that is wrong with the dataset, one sentence each; empty when it conforms.

    `own_std=False`: lerobot 0.4.4 wrote the camera statistics, whose deviation is wrong.
    `gaps=True`: videos may hold frames that no episode shows any more.
    """
    found = []

    def attempt(part, *arguments):
        try:
            part(found.append, *arguments)
        except Exception as error:  # whatever a reader raises is a finding
            found.append(f"{part.__name__}: {type(error).__name__}: {str(error)[:300]}")

    try:
        files = Files(root)
    except Exception as error:
        return [f"unreadable: {type(error).__name__}: {str(error)[:300]}"]
    attempt(check_totals, files)
    attempt(check_rows, files)
    attempt(check_videos, files, gaps)
    attempt(check_numbers, files)
    if not found:  # pictures are slow, and broken tables would only be reported again per frame
        pictures = {camera: Pictures() for camera in files.cameras}
        for backend in backends:
            attempt(check_items, files, backend, pictures if backend == backends[0] else None)
        attempt(check_camera_stats, files, pictures, own_std)
        attempt(check_chunks, files, backends[0])
    return found


def check_totals(say, files):
    info, episodes = files.info, files.episodes
    if info["codebase_version"] != "v3.0":
        say(f"codebase_version is {info['codebase_version']}")
    for key, real in (("total_frames", len(files.rows)), ("total_episodes", len(episodes)),
                      ("total_tasks", len(files.tasks))):
        if info[key] != real:
            say(f"{key} is {info[key]}, there are {real}")
    if info["splits"] != {"train": f"0:{len(episodes)}"}:
        say(f"splits are {info['splits']}")
    columns = set(files.features) - set(files.cameras)
    if columns - set(files.rows.columns) or set(COUNTED) - columns:
        say(f"columns {sorted(files.rows.columns)}, features {sorted(files.features)}")
    if not all(isinstance(task, str) for task in files.tasks.index):
        say(f"tasks.parquet has {list(files.tasks.index)[:3]} as index, not the task texts")
    if list(files.tasks["task_index"]) != list(range(len(files.tasks))):
        say("tasks.parquet is not in the order of task_index")
    if set(files.stats) != {k for k, f in files.features.items() if f["dtype"] != "string"}:
        say(f"stats.json has {sorted(files.stats)}, features are {sorted(files.features)}")


def check_rows(say, files):
    rows, start = files.rows, 0
    if list(rows["index"]) != list(range(len(rows))):
        say("index does not count all frames from 0")
    for number, episode in enumerate(files.episodes):
        name, length = f"episode {number}", episode["length"]
        bounds = (episode["dataset_from_index"], episode["dataset_to_index"])
        if episode["episode_index"] != number or bounds != (start, start + length):
            say(f"{name}: index {episode['episode_index']}, frames {bounds}, not from {start}")
        part = rows.iloc[bounds[0]:bounds[1]]
        start = bounds[1]
        if set(part["episode_index"]) != {number}:
            say(f"{name}: its rows say episode {sorted(set(part['episode_index']))}")
        if list(part["frame_index"]) != list(range(length)):
            say(f"{name}: frame_index does not count its {length} frames from 0")
        late = np.abs(part["timestamp"].to_numpy(np.float64) - np.arange(len(part)) / files.fps)
        if late.max(initial=0) > TOLERANCE_S:
            say(f"{name}: timestamps up to {late.max():.4f} s off the frame rate")
        data = files.info["data_path"].format(
            chunk_index=episode["data/chunk_index"], file_index=episode["data/file_index"])
        if set(part["file"]) != {data}:
            say(f"{name}: rows in {sorted(set(part['file']))}, said to be in {data}")
        indices = sorted(set(part["task_index"]))
        known = [files.tasks.index[i] for i in indices if 0 <= i < len(files.tasks)]
        if len(known) != len(indices) or sorted(known, key=str) != sorted(episode["tasks"]):
            say(f"{name}: task indices {indices} are {known}, the episode says {episode['tasks']}")
    for feature in files.vectors():
        values, shape = files.numbers(feature), files.features[feature]["shape"]
        if values.shape[1:] != tuple(shape):
            say(f"{feature}: {values.shape[1:]} numbers, the feature says {shape}")
        if not np.isfinite(values).all():
            row = rows.iloc[int(np.argwhere(~np.isfinite(values))[0, 0])]
            at = f"episode {row['episode_index']}, frame {row['frame_index']}"
            say(f"{feature}: not finite in {at}")


def check_videos(say, files, gaps):
    """Every video holds exactly its episodes' frames, on the grid of the frame rate."""
    for camera in files.videos:
        spans = {}
        for episode in files.episodes:
            spans.setdefault(files.video(camera, episode), []).append(episode)
        for path, episodes in spans.items():
            with av.open(str(files.root / path)) as container:
                stream = container.streams.video[0]
                size, rate = (stream.height, stream.width), stream.average_rate
                times = sorted(p.pts * p.time_base for p in container.demux(stream) if p.size)
            if size != files.size(camera):
                say(f"{path}: {size} high and wide, the feature says {files.size(camera)}")
            if rate != files.fps:
                say(f"{path}: {rate} frames per second, not {files.fps}")
            late = max(abs(float(t) - k / files.fps) for k, t in enumerate(times))
            if late > TOLERANCE_S:
                say(f"{path}: frames up to {late:.4f} s off the frame rate")
            end = 0.0
            for episode in sorted(episodes, key=lambda e: e[f"videos/{camera}/from_timestamp"]):
                first = episode[f"videos/{camera}/from_timestamp"]
                last = episode[f"videos/{camera}/to_timestamp"]
                gap, grid = first - end, first * files.fps
                name = f"{path}: episode {episode['episode_index']}"
                if gap < -TOLERANCE_S or (gap > TOLERANCE_S and not gaps):
                    say(f"{name} from {first:.4f} s, not {end:.4f} s")
                if abs(grid - round(grid)) > TOLERANCE_S * files.fps:
                    say(f"{name} between two frames")
                if abs(last - first - episode["length"] / files.fps) > TOLERANCE_S:
                    say(f"{name} lasts {last - first:.4f} s")
                end = last
            frames = round(end * files.fps)
            if len(times) < frames or (len(times) > frames and not gaps):
                say(f"{path}: {len(times)} coded frames, the episodes have {frames}")


def frames_of(path):
    """All pictures of a video, one after the other."""
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            yield frame.to_ndarray(format="rgb24")


def check_items(say, files, backend, pictures):
    """Every item of the real reader against the rows and against a decode from the beginning."""
    data, order = load(files.root, backend), np.random.default_rng(0)
    if len(data) != len(files.rows):
        say(f"{backend}: the reader has {len(data)} frames, the files {len(files.rows)}")
    vectors = {feature: files.numbers(feature) for feature in files.vectors()}
    stray = set(order.choice(len(data), min(len(data), 12), replace=False).tolist())
    kept, playing = {}, {}
    for number, episode in enumerate(files.episodes):
        for camera in files.videos:
            skip = round(episode[f"videos/{camera}/from_timestamp"] * files.fps)
            path = files.root / files.video(camera, episode)
            if playing.get(camera, (None,))[0] != path or playing[camera][1] > skip:
                playing[camera] = [path, 0, frames_of(path)]
            while playing[camera][1] < skip:
                next(playing[camera][2])
                playing[camera][1] += 1
        for index in range(episode["dataset_from_index"], episode["dataset_to_index"]):
            item, where = data[index], f"{backend}: episode {number}, item {index}"
            for feature, values in vectors.items():
                if not np.array_equal(np.atleast_1d(item[feature].numpy()), values[index]):
                    say(f"{where}: {feature} is {item[feature]}, the row has {values[index]}")
            task = files.tasks.index[int(files.rows["task_index"][index])]
            if item["task"] != task:
                say(f"{where}: task is {item['task']!r}, the row has {task!r}")
            for camera in files.cameras:
                shape, kind = tuple(item[camera].shape), item[camera].dtype
                if shape != (3, *files.size(camera)) or kind != torch.float32:
                    say(f"{where}: {camera} is {kind} {shape}")
                    return
                picture = levels(item[camera])
                if pictures is not None:
                    pictures[camera].add(picture)
                if index in stray:
                    kept[index, camera] = picture
                if camera in files.videos:
                    playing[camera][1] += 1
                    frame = next(playing[camera][2])
                    off = int((np.maximum(picture, frame) - np.minimum(picture, frame)).max())
                    if off > PICTURE_STEPS:
                        say(f"{where}: {camera} is not the frame at that place ({off} of 255 off)")
    for index in order.permutation(sorted(stray)):
        item = data[int(index)]
        for camera in files.cameras:
            if not np.array_equal(levels(item[camera]), kept[int(index), camera]):
                say(f"{backend}: item {index}: {camera} depends on the order of reading")


def levels(picture):
    """A picture as policies get it, (3, height, width) in 0..1, as 8 bits (height, width, 3)."""
    return (picture * 255 + 0.5).to(torch.uint8).numpy().transpose(1, 2, 0)


def check_chunks(say, files, backend):
    """Batches with a past and a future, as policies are trained on: cut off at episode ends."""
    steps = (-2, 0, 1, 5)
    windows = {"action": [step / files.fps for step in steps]}
    for camera in files.cameras[:1]:
        windows[camera] = [-1 / files.fps, 0.0]
    data = load(files.root, backend, delta_timestamps=windows)
    edges = set()
    for episode in files.episodes:
        first, end = episode["dataset_from_index"], episode["dataset_to_index"]
        edges |= {first, first + 2, end - 3, end - 1}
    chosen = torch.utils.data.Subset(data, sorted(i for i in edges if 0 <= i < len(data)))
    actions = files.numbers("action")
    for batch in torch.utils.data.DataLoader(chosen, batch_size=5, num_workers=0):
        for row, index in enumerate(batch["index"].tolist()):
            episode = files.episodes[int(batch["episode_index"][row])]
            first, last = episode["dataset_from_index"], episode["dataset_to_index"] - 1
            padded = [not first <= index + step <= last for step in steps]
            if batch["action_is_pad"][row].tolist() != padded:
                say(f"item {index}: padding {batch['action_is_pad'][row].tolist()}, not {padded}")
            wanted = actions[[min(max(index + step, first), last) for step in steps]]
            if not np.array_equal(batch["action"][row].numpy().astype(float), wanted):
                say(f"item {index}: its window holds other actions than the rows")
            for camera in files.cameras[:1]:
                if batch[camera].shape[1:] != (2, 3, *files.size(camera)):
                    say(f"item {index}: {camera} window {tuple(batch[camera].shape[1:])}")
