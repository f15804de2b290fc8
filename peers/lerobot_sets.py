"""Small datasets that the real lerobot writes, and ways to break a dataset."""

import json
import shutil

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from lerobot_real import COUNTED, LeRobotDataset

JOINTS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]
HIGH, WIDE, FPS = 48, 64, 30


def picture(camera, step, high=HIGH, wide=WIDE):
    """A floor of squares and a bar that moves: every frame of every camera is another one."""
    y, x = np.mgrid[0:high, 0:wide]
    floor = np.where((x // 8 + y // 8) % 2, 200, 90)
    colours = np.stack([floor, floor * 0.8, floor * 0.5 + 20 * camera], axis=-1)
    bar = abs(x - (7 + 3 * camera) * step % wide) < 4
    colours[bar] = (240, 40 + 3 * step % 200, 30)
    return colours.astype(np.uint8)


def features(kind):
    vector = {"dtype": "float32", "shape": (6,), "names": [f"{joint}.pos" for joint in JOINTS]}
    camera = {"dtype": kind, "shape": (HIGH, WIDE, 3), "names": ["height", "width", "channels"]}
    return {"observation.state": vector, "action": vector,
            "observation.images.front": camera, "observation.images.wrist": camera}


def add_episode(data, length, task, number):
    """Records an episode; the picture sizes are those of the dataset."""
    for step in range(length):
        frame = {"task": task}
        for index, (key, feature) in enumerate(data.features.items()):
            if feature["dtype"] in ("image", "video"):
                high, wide, _ = feature["shape"]
                frame[key] = picture(index % 2, step + 17 * number, high, wide)
            elif key not in COUNTED:
                values = np.sin(0.1 * step + np.arange(feature["shape"][0]) + index + number)
                frame[key] = values.astype(feature["dtype"])
        data.add_frame(frame)
    data.save_episode()


def write(root, kind="video", lengths=(20, 31, 14), vcodec="h264"):
    """A dataset from lerobot's own recorder."""
    data = LeRobotDataset.create("local/peer", FPS, features(kind), root=root, robot_type="so101",
                                 use_videos=kind == "video", vcodec=vcodec)
    for number, length in enumerate(lengths):
        add_episode(data, length, ("pick", "place")[number % 2], number)
    data.finalize()
    return root


# --- ways to break one -------------------------------------------------------------------------


def edit_json(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def edit_table(root, pattern, change):
    """Rewrites the first table of that name; `change` gets its columns as lists."""
    path = sorted(root.glob(pattern))[0]
    table = pq.read_table(path)
    columns = table.to_pydict()
    change(columns)
    pq.write_table(pa.table(columns, schema=table.schema), path)


def edit_rows(root, change):
    edit_table(root, "data/*/*.parquet", change)


def edit_episodes(root, change):
    edit_table(root, "meta/episodes/*/*.parquet", change)


def copy_video(path, drop=None, scale=None):
    """The same coded frames without number `drop`, later ones moved up; or on another clock."""
    new = path.with_suffix(".new.mp4")
    options = {"video_track_timescale": str(scale)} if scale else {}
    with av.open(str(path)) as source, av.open(str(new), "w", options=options) as target:
        stream = source.streams.video[0]
        out = target.add_stream_from_template(stream)
        step = round(1 / (FPS * stream.time_base))
        packets = [packet for packet in source.demux(stream) if packet.size]
        for place, packet in enumerate(p for k, p in enumerate(packets) if k != drop):
            packet.pts = packet.dts = place * step
            packet.stream = out
            target.mux(packet)
    new.replace(path)


def front(root):
    return sorted(root.glob("videos/*front/*/*.mp4"))[0]


def total_frames(root):
    edit_json(root / "meta/info.json", lambda info: info.update(total_frames=66))


def not_a_number(root):
    def change(columns):
        columns["action"][25] = [float("nan"), *columns["action"][25][1:]]
    edit_rows(root, change)


def short_video(root):
    copy_video(front(root), drop=25)


def coarse_clock(root):
    copy_video(front(root), scale=1000)


def shifted_episode(root):
    def change(columns):
        for end in ("from", "to"):
            columns[f"videos/observation.images.front/{end}_timestamp"][1] += 3 / FPS
    edit_episodes(root, change)


def all_from_zero(root):
    def change(columns):
        columns["videos/observation.images.wrist/from_timestamp"] = [0.0] * len(columns["length"])
    edit_episodes(root, change)


def moved_boundary(root):
    def change(columns):
        columns["dataset_to_index"][0] += 2
        columns["dataset_from_index"][1] += 2
    edit_episodes(root, change)


def episodes_out_of_order(root):
    def change(columns):
        for values in columns.values():
            values[0], values[1] = values[1], values[0]
    edit_episodes(root, change)


def index_restarts(root):
    edit_rows(root, lambda columns: columns.update(index=columns["frame_index"]))


def wall_clock(root):
    def change(columns):
        columns["timestamp"] = [t + 0.003 * (k % 3) for k, t in enumerate(columns["timestamp"])]
    edit_rows(root, change)


def stats_off(root):
    edit_json(root / "meta/stats.json", lambda s: s["action"]["mean"].__setitem__(2, 0.4))


def quantile_off(root):
    def change(columns):
        columns["stats/action/q90"][1] = columns["stats/action/q01"][1]
    edit_episodes(root, change)


def flat_camera_stats(root):
    def change(stats):
        camera = stats["observation.images.front"]
        camera["mean"] = np.ravel(camera["mean"]).tolist()
    edit_json(root / "meta/stats.json", change)


def no_camera_stats(root):
    edit_json(root / "meta/stats.json", lambda stats: stats.pop("observation.images.wrist"))


def task_as_column(root):
    path = root / "meta/tasks.parquet"
    table = pq.read_table(path).to_pydict()
    texts = table.pop("__index_level_0__")
    pq.write_table(pa.table({**table, "task": texts}), path)


def missing_task(root):
    edit_rows(root, lambda columns: columns["task_index"].__setitem__(-1, 5))


def swapped_size(root):
    def change(info):
        info["features"]["observation.images.front"]["shape"] = [WIDE, HIGH, 3]
    edit_json(root / "meta/info.json", change)


def swapped_cameras(root):
    """The other camera's pictures: the same numbers of frames, other colours."""
    one, two = front(root), sorted(root.glob("videos/*wrist/*/*.mp4"))[0]
    spare = one.with_suffix(".spare")
    shutil.move(one, spare)
    shutil.move(two, one)
    shutil.move(spare, two)


def lost_video(root):
    front(root).unlink()


# Each with a word that has to be in what is found.
BROKEN = {
    total_frames: "total_frames", not_a_number: "not finite", short_video: "coded frames",
    coarse_clock: "off the frame rate", shifted_episode: "episode 1 from", all_from_zero: "lasts",
    moved_boundary: "frames", episodes_out_of_order: "episode 0: index 1",
    index_restarts: "does not count", wall_clock: "timestamps", stats_off: "action: mean",
    quantile_off: "episode 1: action: q90", flat_camera_stats: "mean",
    no_camera_stats: "stats.json", task_as_column: "not the task texts",
    missing_task: "task indices", swapped_size: "high and wide", swapped_cameras: "mean",
    lost_video: "mp4",
}
