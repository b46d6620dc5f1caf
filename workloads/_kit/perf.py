"""`perf bench` as workloads run it."""

from __future__ import annotations

import os
import re
import subprocess

from _kit.contract import CaseError

ITERATION_LIMIT_S = 120


def perf(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run perf in the C locale; CaseError if it is missing or does not end."""
    try:
        return subprocess.run(
            ["perf", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=ITERATION_LIMIT_S, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except FileNotFoundError:
        raise CaseError("perf is not installed on the host: apt install linux-perf") from None
    except subprocess.TimeoutExpired:
        raise CaseError(
            f"perf {' '.join(arguments)}: no end within {ITERATION_LIMIT_S} s; set parameter loops"
        ) from None


def perf_version() -> str:
    """Version of the installed perf."""
    said = perf("--version").stdout
    found = re.search(r"\d+\.\d+[\w.~+-]*", said)
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
