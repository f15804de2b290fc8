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
    """Sums over the pixels of a camera."""

    def __init__(self):
        self.count, self.sum, self.squares = 0, np.zeros(3), np.zeros(3)
        self.low, self.high = np.ones(3), np.zeros(3)

    def add(self, picture):
        some = picture[:, ::2, ::2].reshape(3, -1).astype(np.float64)
        self.count += some.shape[1]
        self.sum += some.sum(1)
        self.squares += (some * some).sum(1)
        self.low, self.high = np.minimum(self.low, some.min(1)), np.maximum(self.high, some.max(1))


def check_camera_stats(say, files, pictures, own_std):
    """Per colour, as (3, 1, 1), in 0..1. Taken before coding and from samples, hence the slack."""
    extreme = {"image": 0.05, "video": 0.25}
    for camera, seen in pictures.items():
        mean = seen.sum / seen.count
        deviation = np.sqrt(np.maximum(0, seen.squares / seen.count - mean**2))
        edge = extreme[files.features[camera]["dtype"]]
        real = {"min": (seen.low, edge), "max": (seen.high, edge), "mean": (mean, 0.02)}
        if own_std:
            real["std"] = (deviation, 0.02)
        for key, (wanted, slack) in real.items():
            given = np.array(files.stats[camera].get(key, []))
            if given.shape != (3, 1, 1) or np.abs(given.ravel() - wanted).max() > slack:
                say(f"{camera}: {key} is {given.ravel()}, {given.shape}, recomputed {wanted}")
        for episode in files.episodes:
            for key in (*real, *QUANTILES):
                shape = np.shape(episode.get(f"stats/{camera}/{key}"))
                if shape != (3, 1, 1):
                    say(f"episode {episode['episode_index']}: {camera}: {key} has shape {shape}")
