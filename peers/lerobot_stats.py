"""The statistics of a dataset, recomputed from its rows and pictures."""

import numpy as np

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}


def check_numbers(say, files):
    """Statistics of the numbers: whole set in stats.json, each episode beside its row."""
    for feature in files.vectors():
        values = files.numbers(feature)
        compare_stats(say, feature, files.stats.get(feature, {}), values, whole=True)
        for episode in files.episodes:
            stored = {key.rsplit("/", 1)[1]: value for key, value in episode.items()
                      if key.startswith(f"stats/{feature}/")}
            part = values[episode["dataset_from_index"]:episode["dataset_to_index"]]
            compare_stats(say, f"episode {episode['episode_index']}: {feature}", stored, part)


def compare_stats(say, name, stored, values, whole=False):
    low, high = values.min(0), values.max(0)
    slack = 1e-4 * np.maximum(high - low, np.maximum(1e-3, np.abs(values).max(0)))
    real = {"min": low, "max": high, "mean": values.mean(0), "std": values.std(0)}
    for key, wanted in real.items():
        given = np.array(stored.get(key, []), dtype=np.float64)
        if given.shape != wanted.shape or not (np.abs(given - wanted) <= slack).all():
            say(f"{name}: {key} is {given}, recomputed {wanted}")
    if list(np.ravel(stored.get("count", []))) != [len(values)]:
        say(f"{name}: count is {stored.get('count')}, recomputed {len(values)}")
    ordered = np.sort(values, axis=0)
    for key, share in QUANTILES.items():
        given = np.array(stored.get(key, []), dtype=np.float64)
        # Estimates from a histogram, of a few rows: one row to either side is as right. Those of
        # a whole set may be averages over its episodes.
        at = share * (len(values) - 1)
        first, last = (0, -1) if whole else (max(0, int(at) - 1), min(len(values) - 1, int(at) + 2))
        below, above = ordered[first] - slack, ordered[last] + slack
        if given.shape != low.shape or not ((below <= given) & (given <= above)).all():
            say(f"{name}: {key} is {given}, recomputed between {below} and {above}")


class Pictures:
    """How often each of the 256 levels occurs in the pictures of a camera, per colour."""

    def __init__(self):
        self.levels = np.zeros((3, 256), np.int64)

    def add(self, picture):
        """A picture of 8 bits, (height, width, 3); every second pixel each way is enough."""
        for colour in range(3):
            some = picture[::2, ::2, colour].ravel()
            self.levels[colour] += np.bincount(some, minlength=256)

    def summary(self):
        """Mean, deviation, and the levels below which no, 5 %, 95 % and all pixels are."""
        values, share = np.arange(256) / 255, self.levels / self.levels.sum(1, keepdims=True)
        mean = share @ values
        deviation = np.sqrt(np.maximum(0, share @ values**2 - mean**2))
        below = share.cumsum(1)
        edges = [np.argmax(below > at, axis=1) / 255 for at in (0, 0.05, 0.95, 1 - 1e-12)]
        return mean, deviation, edges


def check_camera_stats(say, files, pictures, own_std):
    """Per colour, as (3, 1, 1), in 0..1; samples of the frames before coding, hence the slack."""
    for camera, seen in pictures.items():
        mean, deviation, (lowest, low, high, highest) = seen.summary()
        # Coding overshoots at edges: of a video only most pixels have to lie between the two.
        lossy = files.features[camera]["dtype"] == "video"
        real = {
            "mean": (mean - 0.02, mean + 0.02), "std": (deviation - 0.02, deviation + 0.02),
            "min": (0 if lossy else lowest - 0.05, low + 0.1 if lossy else lowest + 0.05),
            "max": (high - 0.1 if lossy else highest - 0.05, 1 if lossy else highest + 0.05),
        }
        if not own_std:
            del real["std"]
        for key, (above, below) in real.items():
            given = np.array(files.stats[camera].get(key, []))
            flat = given.ravel()
            if given.shape != (3, 1, 1) or not ((above <= flat) & (flat <= below)).all():
                say(f"{camera}: {key} is {flat}, {given.shape}, not in {above} to {below}")
        for episode in files.episodes:
            for key in ("min", "max", "mean", "std", *QUANTILES):
                shape = np.shape(episode.get(f"stats/{camera}/{key}"))
                if shape != (3, 1, 1):
                    say(f"episode {episode['episode_index']}: {camera}: {key} has shape {shape}")
