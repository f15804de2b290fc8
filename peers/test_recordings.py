"""Recordings of the real rosbags and mcap libraries are read, and ours are read by them."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.rosbag1 import Writer as Bag
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Bag2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

CITRANGE = os.environ["CITRANGE_BIN"]
MAKE_RECORDING = os.environ["CITRANGE_MAKE_RECORDING"]
START_NS = 1_700_000_000_000_000_000
FRAMES = 4
WIDTH, HEIGHT = 80, 60
FX, CX, CY = 70.0, 39.5, 29.5


def run(*words, code=0):
    done = subprocess.run(
        [CITRANGE, "space", "run", *map(str, words), "--json"],
        capture_output=True, text=True, timeout=120,
    )
    assert done.returncode == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def depths(number):
    """A wall and a box before it."""
    picture = np.full((HEIGHT, WIDTH), 1400, np.uint16)
    picture[20:40, 20 + number:40 + number] = 1000
    picture[:3] = 0
    return picture


def points(number):
    z = depths(number).astype(np.float32) / 1000
    v, u = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    return np.stack([(u - CX) / FX * z, (v - CY) / FX * z, z], -1)


def messages(store, is_ros1):
    """Topic, type, time and message of what a camera and an arm send."""
    name = "tf2_msgs/msg/TFMessage"
    if name not in store.types:
        text = "geometry_msgs/TransformStamped[] transforms"
        store.register(get_types_from_msg(text, name))
    types = store.types
    message = lambda name, *fields: types[name](*fields)
    time = types["builtin_interfaces/msg/Time"]

    def header(ns, frame):
        stamp = time(ns // 10**9, ns % 10**9)
        cls = types["std_msgs/msg/Header"]
        return cls(7, stamp, frame) if is_ros1 else cls(stamp, frame)

    for number in range(FRAMES):
        ns = START_NS + number * 33_000_000
        vector = message("geometry_msgs/msg/Vector3", 0.0, 0.0, 1.0)
        quaternion = message("geometry_msgs/msg/Quaternion", 1.0, 0.0, 0.0, 0.0)
        transform = message("geometry_msgs/msg/Transform", vector, quaternion)
        edge = message(
            "geometry_msgs/msg/TransformStamped", header(ns, "world"), "eye", transform)
        yield "/tf_static", "tf2_msgs/msg/TFMessage", ns, message("tf2_msgs/msg/TFMessage", [edge])
        k = np.array([FX, 0, CX, 0, FX, CY, 0, 0, 1.0])
        roi = message("sensor_msgs/msg/RegionOfInterest", 0, 0, 0, 0, False)
        yield "/cam/camera_info", "sensor_msgs/msg/CameraInfo", ns, message(
            "sensor_msgs/msg/CameraInfo", header(ns, "eye"), HEIGHT, WIDTH, "plumb_bob",
            np.zeros(5), k, np.eye(3).ravel(), np.zeros(12), 0, 0, roi)
        yield "/cam/depth", "sensor_msgs/msg/Image", ns, message(
            "sensor_msgs/msg/Image", header(ns, "eye"), HEIGHT, WIDTH, "16UC1", 0, 2 * WIDTH,
            depths(number).view(np.uint8).ravel())
        field = lambda name, at: message("sensor_msgs/msg/PointField", name, at, 7, 1)
        cloud = points(number)
        cloud = cloud[cloud[..., 2] > 0]
        padded = np.zeros((len(cloud), 5), np.float32)
        padded[:, :3] = cloud
        yield "/cam/points", "sensor_msgs/msg/PointCloud2", ns, message(
            "sensor_msgs/msg/PointCloud2", header(ns, "eye"), 1, len(cloud),
            [field("x", 0), field("y", 4), field("z", 8)], False, 20, 20 * len(cloud),
            padded.view(np.uint8).ravel(), True)
        yield "/joint_states", "sensor_msgs/msg/JointState", ns, message(
            "sensor_msgs/msg/JointState", header(ns, ""), ["elbow_joint", "shoulder_pan_joint"],
            np.array([0.1, 0.2]), np.array([]), np.array([]))


def bag1(path, compression):
    store = get_typestore(Stores.ROS1_NOETIC)
    bag = Bag(path)
    if compression:
        bag.set_compression(compression)
    with bag:
        known = {}
        for topic, name, ns, message in messages(store, True):
            if topic not in known:
                known[topic] = bag.add_connection(topic, name, typestore=store)
            bag.write(known[topic], ns, store.serialize_ros1(message, name))
    return path


def bag2(folder, compress):
    store = get_typestore(Stores.ROS2_HUMBLE)
    bag = Bag2(folder, version=9, storage_plugin=StoragePlugin.MCAP)
    if compress:
        bag.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with bag:
        known = {}
        for topic, name, ns, message in messages(store, False):
            if topic not in known:
                known[topic] = bag.add_connection(topic, name, typestore=store)
            bag.write(known[topic], ns, store.serialize_cdr(message, name))
    return next(Path(folder).glob("*.mcap"))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    made = {
        f"bag {kind.name if kind else 'plain'}": bag1(folder / f"{at}.bag", kind)
        for at, kind in enumerate([None, Bag.CompressionFormat.LZ4, Bag.CompressionFormat.BZ2])
    }
    made["mcap plain"] = bag2(folder / "plain", False)
    made["mcap zstd"] = bag2(folder / "zstd", True)
    return made


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The same frames as files."""
    folder = tmp_path_factory.mktemp("files")
    for number in range(FRAMES):
        np.savez(folder / f"frame_{number}.npz", xyz=points(number))
        side = {"fx": FX, "fy": FX, "cx": CX, "cy": CY, "width": WIDTH, "height": HEIGHT,
                "T_cam_to_world": [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 1], [0, 0, 0, 1]],
                "stamp_ns": START_NS + number * 33_000_000}
        (folder / f"frame_{number}.json").write_text(json.dumps(side))
    return run(*sorted(folder.glob("*.npz")))[0]


KINDS = ["bag plain", "bag LZ4", "bag BZ2", "mcap plain", "mcap zstd"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("topic", ["/cam/depth", "/cam/points"])
def test_recordings_of_others_give_the_same_map(recordings, expected, kind, topic):
    told, _ = run(recordings[kind], "--topic", topic)
    assert len(told) == FRAMES + 1
    for found, want in zip(told, expected):
        assert found.get("voxels") == want.get("voxels")
    assert told[-1]["map_voxels"] == expected[-1]["map_voxels"] > 20


@pytest.mark.parametrize("kind", KINDS)
def test_topics_are_listed_and_cut_files_say_so(recordings, tmp_path, kind):
    path = recordings[kind]
    _, told = run(path, code=3)
    for topic in ["/cam/depth", "/cam/points", "sensor_msgs/"]:
        assert topic in told
    cut = tmp_path / path.name
    data = path.read_bytes()
    cut.write_bytes(data[: len(data) // 2])
    # The one block of bzip2 and of zstd is readable whole or not at all.
    is_one_block = "BZ2" in kind or "zstd" in kind
    told, errors = run(cut, "--topic", "/cam/depth", code=3 if is_one_block else 4)
    assert "damaged" in errors and "the file ends" in errors


@pytest.mark.parametrize("packing", ["none", "lz4", "zstd"])
def test_mcap_reads_what_we_write(tmp_path, packing):
    path = tmp_path / "ours.mcap"
    subprocess.run([MAKE_RECORDING, path, packing], check=True)
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        assert summary.statistics.message_count == 106 and len(summary.chunk_indexes) > 2
        states = [m for _, c, _, m in reader.iter_decoded_messages(topics="/joint_states")]
        assert [s.position[0] for s in states] == list(range(100))
        assert states[3].header.stamp.nanosec == 24_000_000 and list(states[3].name) == ["a", "bc"]
        clouds = [m for _, _, _, m in reader.iter_decoded_messages(topics="/points")]
        assert [c.width * c.height for c in clouds] == [12, 12, 12]
        xyz = np.frombuffer(clouds[1].data, np.float32).reshape(12, 4)[:, :3]
        assert xyz[5].tolist() == [5, 0.5, 40]
        (edge,) = next(m for _, _, _, m in reader.iter_decoded_messages(topics="/tf")).transforms
        assert (edge.transform.rotation.w, edge.child_frame_id) == (0.8, "camera")
        # From the middle on, by the index.
        late = list(reader.iter_messages(topics="/joint_states", start_time=START_NS + 400_000_000))
        assert 49 <= len(late) <= 51
