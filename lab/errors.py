"""What goes wrong in the lab."""

from __future__ import annotations

from mitigauge.core.errors import MitigaugeError


class LabError(MitigaugeError):
    """The lab could not build, start, reach or stop something."""
