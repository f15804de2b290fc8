"""The peer of the recording benchmark: the real lerobot records the same frames.

    tape_peer.py frames  --out DIR --count 421                  synthetic pictures, to try this out
    tape_peer.py record  MODE  --front F --wrist W --count N --out DIR [--paced]
    tape_peer.py measure --set DIR --front F --wrist W --count N     size and PSNR of any dataset
    tape_peer.py match   --front F --wrist W --count N --front-db X --wrist-db Y

Frame files are N pictures of 640x480, 8 bits of red, green and blue, one after the other. Every
command prints one JSON object. Runs in the environment of `scripts/lerobot_venv.sh`.
"""

import argparse
import json
import logging
import math
import os
import resource
import tempfile
import time
from pathlib import Path

import av
import numpy as np

HIGH, WIDE, FPS = 480, 640, 30
FRAME_BYTES = HIGH * WIDE * 3
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
CAMERAS = ("front", "wrist")
# lerobot-record's own settings: four threads per camera write pictures, a queue of 30 frames.
MODES = {
    "default": {"vcodec": "libsvtav1", "image_writer_threads": 8},
    "default_h264": {"vcodec": "h264", "image_writer_threads": 8},
    "streaming": {"vcodec": "libsvtav1", "streaming_encoding": True, "encoder_queue_maxsize": 30},
    "streaming_h264": {"vcodec": "h264", "streaming_encoding": True, "encoder_queue_maxsize": 30},
}


def raw_frames(path, count):
    with open(path, "rb") as file:
        for index in range(count):
            frame = np.fromfile(file, np.uint8, FRAME_BYTES)
            if frame.size != FRAME_BYTES:
                raise SystemExit(f"{path}: ends at frame {index}, {count} were asked for")
            yield frame.reshape(HIGH, WIDE, 3)


# --- measuring a dataset ------------------------------------------------------------------------


def decoded(paths):
    for path in paths:
        with av.open(str(path)) as container:
            container.streams.video[0].thread_type = "AUTO"
            for frame in container.decode(video=0):
                yield frame.to_ndarray(format="rgb24")


def psnr(paths, raw, count):
    """PSNR over all pixels of all frames, in the order of the rows, and how many were coded."""
    error, coded, original = 0.0, 0, raw_frames(raw, count)
    for picture in decoded(paths):
        if (wanted := next(original, None)) is not None:
            error += float(np.square(picture.astype(np.int32) - wanted).sum(dtype=np.int64))
        coded += 1
    compared = min(coded, count) * FRAME_BYTES
    return (10 * math.log10(255**2 * compared / error) if error else math.inf), coded


def measure(folder, raws, count):
    """Size on disk and quality of what was recorded."""
    folder = Path(folder)
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    videos = {c: sorted(folder.glob(f"videos/*{c}/*/*.mp4")) for c in CAMERAS}
    quality = {camera: psnr(videos[camera], raws[camera], count) for camera in CAMERAS}
    return {
        "bytes_per_step": sum(sizes.values()) / count,
        "video_bytes_per_step": sum(sizes[p] for paths in videos.values() for p in paths) / count,
        "psnr_db": {camera: db for camera, (db, _) in quality.items()},
        "coded": {camera: coded for camera, (_, coded) in quality.items()},
        "dropped": sum(count - coded for _, coded in quality.values()),
    }


# --- lerobot records ----------------------------------------------------------------------------


def cpu_secs():
    """User and system time of this process, all its threads, and its children so far."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def peak_bytes():
    """Most memory this process held, or one of its children: they share too much to be added."""
    whos = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return 1024 * max(resource.getrusage(who).ru_maxrss for who in whos)


def record(mode, raws, count, out, paced):
    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", SVT_LOG="0")
    from datasets import disable_progress_bars
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    logging.disable(logging.WARNING)
    disable_progress_bars()
    vector = {"dtype": "float32", "shape": (6,), "names": [f"{joint}.pos" for joint in JOINTS]}
    camera = {"dtype": "video", "shape": (HIGH, WIDE, 3), "names": ["height", "width", "channels"]}
    features = {"observation.state": vector, "action": vector}
    features |= {f"observation.images.{name}": camera for name in CAMERAS}
    memory = peak_bytes()
    data = LeRobotDataset.create("local/bench", FPS, features, root=out, robot_type="so101",
                                 **MODES[mode])
    sources = {name: raw_frames(raws[name], count) for name in CAMERAS}
    stalls, reading = [], 0.0
    cpu, start = cpu_secs(), time.perf_counter()
    for step in range(count):
        if paced:
            time.sleep(max(0.0, start + step / FPS - time.perf_counter()))
        # What a camera would have put there anyway is not the recorder's work.
        before = time.thread_time()
        frame = {f"observation.images.{name}": next(sources[name]) for name in CAMERAS}
        reading += time.thread_time() - before
        joints = np.sin(0.05 * step + np.arange(6)).astype(np.float32)
        frame |= {"observation.state": joints, "action": joints + 0.01, "task": "bench"}
        begin = time.perf_counter()
        data.add_frame(frame)
        stalls.append(time.perf_counter() - begin)
    stop = time.perf_counter()
    data.save_episode()
    data.finalize()
    end, cpu = time.perf_counter(), cpu_secs() - cpu - reading
    return {
        "mode": mode, "paced": paced, "steps": count,
        "cpu_ms_per_step": 1e3 * cpu / count,
        "wall_secs": end - start, "steps_per_sec": count / (end - start), "save_secs": end - stop,
        "stall_ms": {"worst": 1e3 * max(stalls), "p999": 1e3 * float(np.quantile(stalls, 0.999))},
        "peak_rss_mb": peak_bytes() / 1e6, "rss_before_mb": memory / 1e6,
        **measure(out, raws, count),
    }


# --- the size lerobot's h264 would need for the same quality ------------------------------------


def encode(raw, count, crf, path):
    """One camera with lerobot's encoder and options, but for the quality."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("h264", FPS, options={"g": "2", "crf": f"{crf:.3f}"})
        stream.pix_fmt, stream.width, stream.height = "yuv420p", WIDE, HIGH
        for picture in raw_frames(raw, count):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return psnr([path], raw, count)[0], path.stat().st_size / count


def match(raw, count, wanted_db):
    """The coarsest quality, to a quarter of a step, that still reaches `wanted_db`."""
    with tempfile.TemporaryDirectory() as work:
        path = Path(work) / "try.mp4"
        fine, coarse = 0.0, 51.0
        best = (fine, *encode(raw, count, fine, path))
        if best[1] < wanted_db:
            raise SystemExit(f"{raw}: not even crf 0 reaches {wanted_db:.1f} dB")
        while coarse - fine > 0.25:
            middle = (fine + coarse) / 2
            got = encode(raw, count, middle, path)
            if got[0] >= wanted_db:
                fine, best = middle, (middle, *got)
            else:
                coarse = middle
    return {"crf": best[0], "psnr_db": best[1], "bytes_per_step": best[2]}


# --- pictures to try it out ---------------------------------------------------------------------


def synthetic(out, count):
    """A floor of squares in soft light, an arm of three bars that swings, a little noise."""
    out.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(0)
    y, x = np.mgrid[0:HIGH, 0:WIDE].astype(np.float32)
    for number, name in enumerate(CAMERAS):
        with open(out / f"{name}.rgb", "wb") as file:
            for step in range(count):
                moved = x + (2.0 * step if name == "wrist" else 0)
                floor = np.where((moved // 40 + y // 40) % 2, 150.0, 95.0)
                picture = np.stack([floor, floor, floor * 0.9 + 10 * number], axis=-1)
                picture *= (1.1 - 0.0006 * np.hypot(x - 320, y - 100))[..., None]
                at, angle = np.array([320.0, 460.0]), -1.6
                for part, colour in enumerate(((230, 120, 40), (60, 60, 70), (240, 200, 60))):
                    angle += 0.5 * math.sin(0.03 * step * (part + 1) + part)
                    way = np.array([math.cos(angle), math.sin(angle)])
                    along = np.clip((x - at[0]) * way[0] + (y - at[1]) * way[1], 0, 150)
                    off = np.hypot(x - at[0] - along * way[0], y - at[1] - along * way[1])
                    picture[off < 22 - 5 * part] = colour
                    at = at + 150 * way
                picture += chance.normal(0, 1.5, picture.shape)
                file.write(np.clip(picture, 0, 255).astype(np.uint8).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("frames", "record", "measure", "match"):
        command = commands.add_parser(name)
        command.add_argument("--count", type=int, required=True)
        if name != "frames":
            command.add_argument("--front", type=Path, required=True)
            command.add_argument("--wrist", type=Path, required=True)
        if name in ("frames", "record"):
            command.add_argument("--out", type=Path, required=True)
        if name == "record":
            command.add_argument("mode", choices=MODES)
            command.add_argument("--paced", action="store_true", help="a step every 1/30 s")
        if name == "measure":
            command.add_argument("--set", type=Path, required=True)
        if name == "match":
            command.add_argument("--front-db", type=float, required=True)
            command.add_argument("--wrist-db", type=float, required=True)
    args = parser.parse_args()
    av.logging.set_libav_level(av.logging.ERROR)
    if args.command == "frames":
        synthetic(args.out, args.count)
        report = {name: str(args.out / f"{name}.rgb") for name in CAMERAS}
    else:
        raws = {"front": args.front, "wrist": args.wrist}
        if args.command == "record":
            report = record(args.mode, raws, args.count, args.out, args.paced)
        elif args.command == "measure":
            report = measure(args.set, raws, args.count)
        else:
            wanted = {"front": args.front_db, "wrist": args.wrist_db}
            report = {name: match(raws[name], args.count, wanted[name]) for name in CAMERAS}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
