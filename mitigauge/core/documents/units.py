"""Values in units that people read."""

from __future__ import annotations

from mitigauge.core.effect import PERCENT, Effect
from mitigauge.core.stats.bounds import Bound

_LARGER = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_SCALED = frozenset({"bit/s", "B/s", "byte/s", "Hz", "op/s", "ops/s"})
_PLAIN = {"count": "", "percent": "%", "%": "%", "ratio": ""}


def humanise(value: float, unit: str) -> str:
    """*value* with three digits and a unit that suits it: ``1.77 Gbit/s``, ``382 ns``.

    Units that are not known stand as they are.
    """
    size, name = _suiting(value, unit)
    return f"{_three(value / size)} {name}".rstrip()


def humanise_interval(value: float, low: float, high: float, unit: str) -> str:
    """``1.15 µs [1.06, 1.24]``: both ends in the unit that suits *value*."""
    size, name = _suiting(value, unit)
    ends = f"[{_three(low / size)}, {_three(high / size)}]"
    return " ".join(filter(None, [_three(value / size), name, ends]))


def _suiting(value: float, unit: str) -> tuple[float, str]:
    """How many of *unit* the unit that suits *value* is, and its name."""
    base, slash, per = unit.partition("/")
    if base in _SECONDS and unit not in _SCALED:
        seconds = abs(value) * _SECONDS[base]
        fitting = (pair for pair in _TIMES if seconds >= pair[0] * 0.9995)
        size, name = _TIMES[0] if seconds == 0 else next(fitting, _TIMES[-1])
        return size / _SECONDS[base], f"{name}{slash}{per}"
    if unit in _SCALED:
        factor, prefix = next(
            (pair for pair in _LARGER if abs(value) >= pair[0] * 0.9995), (1.0, "")
        )
        return factor, f"{prefix}{unit}"
    return 1.0, _PLAIN.get(unit, unit)


def duration(seconds: float) -> str:
    """``30 s``, ``40 min``, ``3.5 h``."""
    if seconds < 60:
        return f"{round(seconds)} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def signed(value: float, unit: str = "") -> str:
    """A difference with three digits and its sign: ``+38.2 ns/op``."""
    text = _three(abs(value))
    sign = "-" if value < 0 and text != "0" else "+"
    return f"{sign}{text} {unit}".rstrip()


def percent(value: float, *, digits: int = 1) -> str:
    """A signed percentage: ``-10.4%``."""
    return f"{_signed(value, digits)}%"


def interval(low: float, high: float, *, digits: int = 1) -> str:
    """``[-12.1, -8.7]``: two signed percentages.

    One that has nothing to say, from below 0 to beyond 1000 %, is not spelled out.
    """
    end = ">+1000" if low <= 0 and high > 1000 else _signed(high, digits)
    return f"[{_signed(low, digits)}, {end}]"


BOUND_SIGN = {
    Bound.EXACT: "", Bound.AT_LEAST: "≥", Bound.AT_MOST: "≤", Bound.NOTHING: "?",
}  # fmt: skip
BOUND_WORDS = {
    Bound.EXACT: "", Bound.AT_LEAST: "at least ", Bound.AT_MOST: "at most ",
    Bound.NOTHING: "not to be ranked: ",
}  # fmt: skip
BOUND_SIGNS = {
    Bound.EXACT: "", Bound.AT_LEAST: "≥ ", Bound.AT_MOST: "≤ ", Bound.NOTHING: "≷ ",
}  # fmt: skip


def effect_parts(effect: Effect) -> tuple[str, str]:
    """``-10.4%`` and ``[-12.1, -8.7]``: an effect and its interval, empty where it has none."""
    if effect.unit != PERCENT:
        ends = effect.interval
        between = "" if ends is None else f"[{signed(ends[0])}, {signed(ends[1])}]"
        return signed(effect.value, effect.unit), between
    digits, ends = effect.digits, effect.interval
    between = "" if ends is None else interval(*ends, digits=digits)
    return percent(effect.value, digits=digits), between


def effect(effect: Effect) -> str:
    """``-10.4% [-12.1, -8.7]``: an effect with its interval, where it has one.

    One that is a bound of the true effect says so: ``at least +0.4% [+0.3, +0.5]``.
    """
    change, between = effect_parts(effect)
    return f"{BOUND_WORDS[effect.bound]}{change} {between}".rstrip()


def claimed(low: float, high: float) -> str:
    """A published change: ``+25.2%``, or its lowest and highest."""
    least, most = percent(low), percent(high)
    return least if least == most else f"{least} to {most}"


def detectable(value: float, *, digits: int = 1) -> str:
    """``mde 3.2%``: a smallest detectable effect. Beyond 1000 % it only says that nothing shows."""
    return "mde >1000%" if value > 1000 else f"mde {value:.{max(digits, 1)}f}%"


def _signed(value: float, digits: int) -> str:
    if abs(value) >= 1e6:
        return f"{value:+.1e}"
    text = f"{value:+.{digits}f}"
    # A rounded zero has no sign to speak of.
    return text.replace("-", "+") if float(text) == 0 else text


def _three(value: float) -> str:
    """Three significant digits, without an exponent where that stays readable."""
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 1e7:
        return f"{value:.2e}"
    rounded = float(f"{value:.3g}")
    decimals = max(0, 2 - _exponent(rounded))
    return f"{rounded:.{decimals}f}"


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])
