"""A diff as an SVG, drawn by inferno or FlameGraph if one is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence

import numpy as np

from mitigauge.analysis.profiles.diff.significance import Floats
from mitigauge.analysis.profiles.store.tree import Ints
from mitigauge.core.errors import InvalidInput, NotFound

# The first that is installed is taken.
TOOLS = ("inferno-flamegraph", "flamegraph.pl")
TIMEOUT_S = 60
# They count in whole numbers.
SCALE = 1000
_BREAKS = re.compile(r"[;\x00-\x1f\x7f\u2028\u2029]")


def installed() -> str | None:
    """The tool's name, or None."""
    return next((tool for tool in TOOLS if shutil.which(tool)), None)


def drawn(
    parent: Ints, names: Sequence[str], a: Floats, b: Floats, *, title: str, unit: str
) -> bytes:
    """A differential flame graph of frames in preorder, whose costs *a*, *b* are inclusive.

    Raises :class:`NotFound` where no tool is installed, :class:`InvalidInput` for a
    diff that the tool refuses.
    """
    tool = installed()
    if tool is None:
        raise NotFound(
            f"neither {' nor '.join(TOOLS)} is installed where the service runs",
            hint="Install one (`cargo install inferno`), or save the viewer's own SVG.",
        )
    lines = "".join(folded_pairs(parent, names, a, b)).encode("utf-8", "replace")
    command = [tool, "--title", title, "--countname", f"{unit} / {SCALE}", "--hash"]
    try:
        done = subprocess.run(
            command, input=lines, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise InvalidInput(
            f"{tool} did not end within {TIMEOUT_S} s", hint="Save the viewer's own SVG."
        ) from None
    if done.returncode or b"<svg" not in done.stdout:
        said = done.stderr.decode(errors="replace").strip()[-300:]
        raise InvalidInput(f"{tool} drew nothing: {said}", hint="Save the viewer's own SVG.")
    return done.stdout


def folded_pairs(parent: Ints, names: Sequence[str], a: Floats, b: Floats) -> Iterator[str]:
    """Lines ``stack a b`` with own costs × SCALE, as difffolded.pl writes; the root has none."""
    own = [side.astype(float).copy() for side in (a, b)]
    for cost, side in zip(own, (a, b), strict=True):
        np.subtract.at(cost, parent[1:], side[1:])
    paths = [""] * len(parent)
    for frame in range(1, len(parent)):
        name = _BREAKS.sub(":", names[frame]).strip() or "[no name]"
        above = paths[parent[frame]]
        paths[frame] = f"{above};{name}" if above else name
        counts = [max(0, round(float(cost[frame]) * SCALE)) for cost in own]
        if any(counts):
            yield f"{paths[frame]} {counts[0]} {counts[1]}\n"
