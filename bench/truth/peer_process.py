"""Other detectors over the same series, run in an environment of the bench's own.

``python peer_process.py DETECTOR < asked.json > found.json``. Asked is a list of series, each with
how many of its values are seen, one number a look; found are the places of each look of each
series. Imports nothing of the project.
"""

import json
import math
import sys
import time

import numpy as np
import ruptures
from otava.analysis import compute_change_points, compute_change_points_orig


def otava(series):
    """As its command does it: windows of 50, p 0.001."""
    points, _ = compute_change_points(series)
    return [point.index for point in points]


def otava_original(series):
    """Its e-divisive with permutations."""
    points, _ = compute_change_points_orig(np.array(series), seed=1)
    return [point.index for point in points]


def pelt(series):
    """Means, with the penalty of BIC by a robust variance of differences.

    The linear kernel's cost is that of the means, and its search is PELT, in C.
    """
    values = np.array(series)
    noise = 1.4826 * np.median(np.abs(np.diff(values) - np.median(np.diff(values)))) / math.sqrt(2)
    penalty = 2 * math.log(len(values)) * max(noise, 1e-12) ** 2
    found = ruptures.KernelCPD(kernel="linear", min_size=3).fit(values.reshape(-1, 1))
    return found.predict(pen=penalty)[:-1]


def kernel(series):
    """Kernel with median bandwidth, as its guide suggests."""
    values = np.array(series).reshape(-1, 1)
    found = ruptures.KernelCPD(kernel="rbf", min_size=3).fit(values)
    return found.predict(pen=math.log(len(values)))[:-1]


PEERS = {"otava": otava, "otava-original": otava_original, "pelt": pelt, "kernel": kernel}


def attempt(detector, series):
    """What it found; nothing where it failed, which is said on stderr."""
    try:
        return [int(place) for place in detector(list(series))]
    except Exception as error:  # noqa: BLE001 a peer's failure is a result
        print(f"{detector.__name__}: {type(error).__name__}: {error}", file=sys.stderr)
        return None


def main():
    """One peer over every series."""
    detector = PEERS[sys.argv[1]]
    began = time.process_time()
    found = [
        [attempt(detector, values[:end]) for end in seen] for values, seen in json.load(sys.stdin)
    ]
    json.dump({"seconds": time.process_time() - began, "found": found}, sys.stdout)


if __name__ == "__main__":
    main()
