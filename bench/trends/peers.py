"""Other detectors over the same series, run in an environment of the bench's own.

``python peers.py < series.json > found.json``: a list of series in, {name: {seconds, found}} out.
Imports nothing of the project.
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
    return [int(point.index) for point in points]


def otava_original(series):
    """Its e-divisive with permutations."""
    points, _ = compute_change_points_orig(np.array(series), seed=1)
    return [int(point.index) for point in points]


def pelt(series):
    """Means, with the penalty of BIC by a robust variance of differences."""
    values = np.array(series)
    noise = 1.4826 * np.median(np.abs(np.diff(values) - np.median(np.diff(values)))) / math.sqrt(2)
    penalty = 2 * math.log(len(values)) * max(noise, 1e-12) ** 2
    return ruptures.Pelt(model="l2", min_size=3, jump=1).fit(values).predict(pen=penalty)[:-1]


def kernel(series):
    """Kernel with median bandwidth, as its guide suggests."""
    values = np.array(series).reshape(-1, 1)
    found = ruptures.KernelCPD(kernel="rbf", min_size=3).fit(values)
    return found.predict(pen=math.log(len(values)))[:-1]


PEERS = {
    "otava (windows, t-test)": otava,
    "otava (e-divisive)": otava_original,
    "ruptures (PELT, BIC)": pelt,
    "ruptures (kernel)": kernel,
}


def attempt(detector, series):
    """What it found; nothing where it failed, which is said on stderr."""
    try:
        return [int(place) for place in detector(list(series))]
    except Exception as error:  # noqa: BLE001 a peer's failure is a result
        print(f"{detector.__name__}: {type(error).__name__}: {error}", file=sys.stderr)
        return None


def main():
    """Every peer over every series."""
    every = json.load(sys.stdin)
    wanted = sys.argv[1:] or list(PEERS)
    answer = {}
    for name in wanted:
        began = time.process_time()
        found = [attempt(PEERS[name], series) for series in every]
        answer[name] = {"seconds": time.process_time() - began, "found": found}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
