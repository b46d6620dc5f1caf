"""Our own specs for series, by name."""

from __future__ import annotations

import re

from mitigauge.core.errors import NotFound
from mitigauge.core.natural_order import natural_order
from mitigauge.core.settings import REPOSITORY
from mitigauge.tracking.series.spec import places_in

FOLDER = REPOSITORY / "experiments" / "series"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def known_specs() -> list[str]:
    """Names of the specs that measure a series."""
    return sorted((file.stem for file in FOLDER.glob("*.yml")), key=natural_order)


def spec_text(name: str) -> str:
    """The spec of that name, one that asks for a series' kernels.

    Raises NotFound, and InvalidInput for one that asks for none.
    """
    file = FOLDER / f"{name}.yml"
    if not _NAME.fullmatch(name) or not file.is_file():
        raise NotFound(
            f"no spec {name[:60]!r} for a series",
            hint=f"Known, in experiments/series: {', '.join(known_specs()) or 'none'}.",
        )
    text = file.read_text("utf-8-sig")
    places_in(text, file.name)
    return text
