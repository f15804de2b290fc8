"""Citrange's films against ffmpeg: every frame where it belongs, and ffmpeg's films against us."""

import os
import subprocess

import av
import numpy as np
import pytest

MAKE_MOVIE = os.environ["CITRANGE_MAKE_MOVIE"]
WIDTH, HEIGHT = 320, 256


def run(*args):
    done = subprocess.run([MAKE_MOVIE, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def refused(*args):
    done = subprocess.run([MAKE_MOVIE, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    return done.stderr


def film(path, first, count, fps=30, gop=5):
    run("film", path, WIDTH, HEIGHT, fps, gop, first, count)
    return path


def centres(bit):
    across, down = WIDTH // 8, HEIGHT // 8
    return (bit // 8) * down + down // 2, (bit % 8) * across + across // 2


def paint(number):
    """A picture with a number in blocks, and something that moves below."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    rgb = np.stack([x * 255 // WIDTH, y * 255 // HEIGHT, (x + 3 * number) % 256], axis=-1).astype(np.uint8)
    for bit in range(16):
        row, column = centres(bit)
        rgb[row - 16 : row + 16, column - 20 : column + 20] = 255 * (number >> bit & 1)
    return rgb


def number_in(frame):
    rgb = frame.to_ndarray(format="rgb24")
    assert rgb.shape == (HEIGHT, WIDTH, 3)
    number = 0
    for bit in range(16):
        tone = int(rgb[centres(bit)][0])
        assert tone < 70 or tone > 185, f"bit {bit} is {tone}"
        number |= (tone > 127) << bit
    return number


def check(path, numbers, fps=30):
    """All frames in sequence, then each one by itself."""
    with av.open(str(path)) as container:
        (stream,) = container.streams
        assert stream.codec_context.name == "h264" and stream.pix_fmt == "yuv420p"
        assert stream.average_rate == fps and stream.frames == len(numbers)
        assert stream.duration * stream.time_base * fps == len(numbers)
        assert (stream.codec_context.color_range, stream.codec_context.colorspace) == (1, 6)
        frames = list(container.decode(stream))
        assert [frame.pts * frame.time_base * fps for frame in frames] == list(range(len(numbers)))
        assert [number_in(frame) for frame in frames] == numbers
        for index in np.random.default_rng(0).permutation(len(numbers)):
            pts = int(index) * stream.duration // len(numbers)
            container.seek(pts, stream=stream, backward=True)
            frame = next(frame for frame in container.decode(stream) if frame.pts >= pts)
            assert frame.pts == pts and number_in(frame) == numbers[index]


@pytest.mark.parametrize("fps, gop, count", [(30, 5, 43), (30, 2, 9), (10, 1, 5), (25, 15, 40), (50, 5, 1)])
def test_films_are_frame_exact(tmp_path, fps, gop, count):
    check(film(tmp_path / "a.mp4", 300, count, fps, gop), list(range(300, 300 + count)), fps)


def test_films_look_as_painted(tmp_path):
    """Colours come back through ffmpeg's own conversion: range and matrix are understood."""
    path = film(tmp_path / "a.mp4", 0xFFFF, 1)
    with av.open(str(path)) as container:
        rgb = next(container.decode(video=0)).to_ndarray(format="rgb24")
    white = rgb[: HEIGHT // 4 - 16].astype(int)
    assert white.min() > 250, white.min()


def test_films_are_files_like_others(tmp_path):
    path = film(tmp_path / "a.mp4", 0, 3)
    (tmp_path / "other").write_text("")
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


@pytest.mark.parametrize("cut", [(5, 17), (0, 17), (6, 17), (7, 12), (9, 17), (9, 10), (16, 17)])
def test_joined_films_are_frame_exact(tmp_path, cut):
    a, b = film(tmp_path / "a.mp4", 100, 17), film(tmp_path / "b.mp4", 1000, 11)
    out = tmp_path / "out.mp4"
    said = run("join", out, f"{b}:0:11", f"{a}:{cut[0]}:{cut[1]}", f"{b}:5:6", f"{a}:0:3")
    copied, reencoded = map(int, said.split())
    expected = [*range(1000, 1011), *range(100 + cut[0], 100 + cut[1]), 1005, *range(100, 103)]
    assert reencoded == min(-cut[0] % 5, cut[1] - cut[0])
    assert copied + reencoded == len(expected)
    check(out, expected)


CODECS = {
    "h264": ("libx264", {"preset": "ultrafast", "g": "4", "bf": "0"}),
    "h264 B-frames": ("libx264", {"preset": "medium", "g": "8", "bf": "2", "sc_threshold": "0"}),
    "hevc": ("libx265", {"preset": "ultrafast", "x265-params": "keyint=8:open-gop=0:log-level=none"}),
    "av1": ("libsvtav1", {"preset": "12", "g": "2", "crf": "30"}),
    "vp9": ("libvpx-vp9", {"cpu-used": "8", "g": "6", "deadline": "realtime"}),
    "mpeg4": ("mpeg4", {"g": "4", "bf": "0"}),
    "mjpeg": ("mjpeg", {}),
}


def foreign(path, codec, options, count=30, container=None):
    with av.open(str(path), "w", options=container or {}) as out:
        stream = out.add_stream(codec, rate=30, options=options)
        stream.width, stream.height = WIDTH, HEIGHT
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        for number in range(count):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(paint(number), format="rgb24")))
        out.mux(stream.encode())
    return path


def compare_index(path, codec):
    with av.open(str(path)) as container:
        (stream,) = container.streams
        packets = [packet for packet in container.demux(stream) if packet.size]
        scale = 1 / stream.time_base
    head, *lines = run("info", path).splitlines()
    # Fragmented films with B-frames have no edit list and begin late.
    steady = str(min(packet.pts for packet in packets) == 0).lower()
    assert head.split() == [codec, str(WIDTH), str(HEIGHT), "30", str(scale), steady]
    ours = [line.split() for line in lines]
    assert [int(size) for _, size, _, _ in ours] == [packet.size for packet in packets]
    assert [key == "true" for _, _, key, _ in ours] == [packet.is_keyframe for packet in packets]
    assert [int(pts) for *_, pts in ours] == [packet.pts for packet in packets]
    data = path.read_bytes()
    for (offset, size, _, _), packet in zip(ours, packets):
        assert data[int(offset) : int(offset) + int(size)] == bytes(packet)


@pytest.mark.parametrize("container", ["plain", "faststart", "fragmented"])
@pytest.mark.parametrize("name", CODECS)
def test_foreign_films_are_opened(tmp_path, name, container):
    flags = {
        "plain": {},
        "faststart": {"movflags": "faststart"},
        "fragmented": {"movflags": "frag_keyframe+empty_moov+default_base_moof"},
    }[container]
    path = foreign(tmp_path / "a.mp4", *CODECS[name], container=flags)
    compare_index(path, name.split()[0])


@pytest.mark.parametrize("name", CODECS)
def test_foreign_films_are_joined_by_copying(tmp_path, name):
    codec, options = CODECS[name]
    path = foreign(tmp_path / "a.mp4", codec, options)
    out = tmp_path / "out.mp4"
    with av.open(str(path)) as container:
        alone = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        container.seek(0)
        keys = sorted(round(p.pts * p.time_base * 30) for p in container.demux(video=0) if p.size and p.is_keyframe)
    start = keys[len(keys) // 2]
    said = run("join", out, f"{path}:0:30", f"{path}:{start}:30")
    assert said.split() == [str(60 - start), "0"]
    with av.open(str(out)) as container:
        frames = list(container.decode(video=0))
    assert [frame.pts * frame.time_base * 30 for frame in frames] == list(range(60 - start))
    for frame, expected in zip(frames, alone + alone[start:]):
        assert np.array_equal(frame.to_ndarray(format="rgb24"), expected)


@pytest.mark.parametrize("name", [name for name in CODECS if name != "mjpeg"])
def test_foreign_films_are_not_cut_between_key_frames(tmp_path, name):
    path = foreign(tmp_path / "a.mp4", *CODECS[name])
    said = refused("join", tmp_path / "out.mp4", f"{path}:1:30")
    assert "key frames nearby" in said and "0 or " in said, said
    assert not (tmp_path / "out.mp4").exists()


def test_open_groups_are_not_cut(tmp_path):
    """Frames before a key frame may need it: cuts are offered only where they do not."""
    options = {"preset": "ultrafast", "x265-params": "keyint=8:open-gop=1:log-level=none"}
    path = foreign(tmp_path / "a.mp4", "libx265", options)
    said = refused("join", tmp_path / "out.mp4", f"{path}:16:30")
    assert "begin at 0 or 30, end before 30" in said, said
    assert run("join", tmp_path / "out.mp4", f"{path}:0:30").split() == ["30", "0"]


def test_different_films_are_not_joined(tmp_path):
    ours = film(tmp_path / "a.mp4", 0, 5)
    theirs = foreign(tmp_path / "b.mp4", *CODECS["h264"])
    assert "avcC" in refused("join", tmp_path / "out.mp4", f"{ours}:0:5", f"{theirs}:0:30")
    theirs = foreign(tmp_path / "c.mp4", *CODECS["av1"])
    assert "h264 (avc1) and av1 (av01)" in refused("join", tmp_path / "out.mp4", f"{ours}:0:5", f"{theirs}:0:30")
