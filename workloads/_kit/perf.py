"""`perf bench` as workloads run it."""

from __future__ import annotations

import os
import re
import subprocess

from _kit.contract import CaseError

ITERATION_LIMIT_S = 120
# Words of a command that a message repeats.
MOST_SAID = 6


def locale() -> dict[str, str]:
    """Our environment, with figures spelt alike everywhere."""
    return {**os.environ, "LC_ALL": "C"}


def perf(
    *arguments: str, limit_s: float = ITERATION_LIMIT_S, advice: str = "set parameter loops"
) -> subprocess.CompletedProcess[str]:
    """Run perf in the C locale; CaseError if it is missing or does not end within `limit_s`."""
    try:
        return subprocess.run(
            ["perf", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", check=False, timeout=limit_s, env=locale(),
        )  # fmt: skip
    except FileNotFoundError:
        raise CaseError("perf is not installed on the host: apt install linux-perf") from None
    except subprocess.TimeoutExpired:
        said = " ".join(arguments[:MOST_SAID])
        raise CaseError(f"perf {said}: no end within {limit_s} s; {advice}") from None


def perf_version() -> str:
    """Version of the installed perf."""
    said = perf("--version").stdout
    found = re.search(r"(?<!\d)\d+\.\d+[\w.~+-]*", said)
    if not found:
        raise CaseError(f"perf --version says no version: {said!r}")
    return found.group(0)


def require_figure(what: str, figure: str, code: int, said: str, errors: str = "") -> None:
    """Raise CaseError where `perf bench what` gave no `figure`."""
    # It answers an unknown test on standard error, in some releases with status 0.
    if code or figure not in said:
        raise CaseError(
            f"perf bench {what} ended with {code} and no figure: {(errors + said).strip()}"
        )


def seconds_of(said: str, loops: int) -> float:
    """How long so many calls took, by what `perf bench` says of one; 0 where it says nothing."""
    found = re.search(r"(?<![\d.])([\d.]+) usecs/op", said)
    return float(found.group(1)) * loops / 1e6 if found else 0.0
