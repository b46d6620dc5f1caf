"""The tiers of tests: how long each may take and takes, and when it was last green.

``run`` runs them and keeps the date and commit of each that is green in tests/tiers.json; ``stale``
says which are older than the code they cover. ``report`` ends `make test`: its longest files, and
its seconds beside its budget; ``record`` keeps what files took, to say which grew.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
LEDGER = Path("tests/tiers.json")
DURATIONS = Path("tests/durations.tsv")
LAST_RUN = Path(".mitigauge/tests/durations.jsonl")
BROWSER = Path(".mitigauge/tests/browser.json")
LONGEST = 10
# What a file takes differs from run to run; less than both is no growth.
GREW_BY, GREW_BY_S = 1.5, 5.0
# Shorter files are not recorded, and a test that takes longer wants a mark with its reason.
LEAST_S, LONG_S = 1.0, 10.0
SOURCES = ("api", "cli", "lab", "mitigauge", "pipelines")
DEPLOYED = ("deploy", "Dockerfile", "docker-compose.yml", "setup.py", "scripts", "requirements")
ALL = (*SOURCES, "ansible", "modes", "workloads", "db", "web", "tests", "scripts", "requirements")


@dataclass(frozen=True, slots=True)
class Tier:
    """Tests that are run together."""

    name: str
    make: str
    """Target of the Makefile."""
    budget_s: int
    """Seconds on two quiet processors."""
    covers: tuple[str, ...]
    """Files and folders whose change it has to see."""


# In the order of `make test-all`: what fails soonest comes first.
TIERS = (
    Tier("check", "check", 150, ALL),
    Tier("test", "test", 1200, ALL),
    Tier("measured", "test-measured", 120, (*SOURCES, "tests")),
    Tier("deep", "test-deep", 900, (*SOURCES, "ansible", "workloads", "tests")),
    Tier("mutants", "test-mutants", 2400, (*SOURCES, "ansible", "workloads", "tests")),
    Tier("crash", "test-crash", 4500, ("mitigauge", "pipelines", "tests/crash")),
    Tier("fuzz", "fuzz", 7200, ("api", "mitigauge", "workloads", "tests/fuzz")),
    Tier("load", "test-load", 3600, ("mitigauge", "pipelines", "tests/load")),
    Tier("fresh", "test-fresh", 1800, ("scripts", "requirements", "lab/packages.txt", "web")),
    Tier("deploy", "test-deploy", 3600, (*DEPLOYED, "tests/deploy")),
    Tier("lab", "test-lab", 14400, (*SOURCES, "ansible", "modes", "workloads", "tests/lab")),
)


@dataclass(frozen=True, slots=True)
class Green:
    """A tier's last green run."""

    date: str
    commit: str
    seconds: int


def read_ledger(path: Path = LEDGER) -> dict[str, Green]:
    """By tier, its last green run; nothing where none has been."""
    if not path.exists():
        return {}
    return {name: Green(**green) for name, green in json.loads(path.read_text()).items()}


def note_green(name: str, green: Green, path: Path = LEDGER) -> None:
    """Keep that a tier was green."""
    told = {**read_ledger(path), name: green}
    lines = [
        f'  "{name}": {json.dumps({part: getattr(told[name], part) for part in Green.__slots__})}'
        for name in sorted(told)
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def git(*arguments: str) -> str | None:
    """What git prints; None where it fails."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def staleness(tier: Tier, green: Green | None) -> str | None:
    """Why a tier wants to be run; None where it need not be."""
    if green is None:
        return "has never been green"
    changed = git("diff", "--name-only", green.commit, "--", *tier.covers)
    if changed is None:
        return f"was green on {green.date} at {green.commit[:12]}, a commit that is not here"
    # The ledger itself is written after the run.
    files = [name for name in changed.splitlines() if name != str(LEDGER)]
    if not files:
        return None
    what = f"{len(files)} files that it covers" if len(files) > 1 else files[0]
    return f"was green on {green.date} at {green.commit[:12]}; since then {what} changed"


def stale(tiers: Sequence[Tier] = TIERS) -> list[str]:
    """A line for each tier that is older than the code it covers."""
    ledger = read_ledger()
    found = [(tier, staleness(tier, ledger.get(tier.name))) for tier in tiers]
    return [f"  {tier.make:<14} {why}" for tier, why in found if why]


def run(tiers: Sequence[Tier]) -> int:
    """Run each, a line a tier; the number of those that failed."""
    logs = Path(".mitigauge/logs")
    logs.mkdir(parents=True, exist_ok=True)
    failed = 0
    for tier in tiers:
        log = logs / f"tier-{tier.name}.log"
        commit, clean = (git("rev-parse", "HEAD") or "").strip(), not git("status", "--porcelain")
        print(f"make {tier.make:<14} … (log: {log})", end="", flush=True)
        began = time.monotonic()
        with log.open("w") as output:
            done = subprocess.run(["make", tier.make], stdout=output, stderr=output, check=False)
        seconds = round(time.monotonic() - began)
        print(f"\r{outcome(tier, done.returncode, seconds, log)}", flush=True)
        if done.returncode != 0:
            failed += 1
        elif clean:
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            note_green(tier.name, Green(today, commit, seconds))
        else:
            print("    not kept as green: there are changes that are not committed")
    return failed


def outcome(tier: Tier, code: int, seconds: int, log: Path) -> str:
    """The line of a tier that has run."""
    said = f"make {tier.make:<14} {'FAILED' if code else 'OK':<6} {seconds:>6,} s"
    said += f" of {tier.budget_s:,} s"
    if seconds > tier.budget_s:
        said += "  OVER ITS BUDGET"
    return said + (f"  (see {log})" if code else "") + " " * 20


def read_run(path: Path = LAST_RUN, browser: Path = BROWSER) -> dict[str, float]:
    """By test, the seconds that the last run took."""
    took: dict[str, float] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            took.update(json.loads(line))
    if browser.exists():
        took.update(in_browser(json.loads(browser.read_text())))
    return took


def in_browser(report: Mapping[str, Any]) -> dict[str, float]:
    """By test, the seconds in Playwright's report."""
    took: dict[str, float] = {}

    def read(suite: Mapping[str, Any]) -> None:
        for spec in suite.get("specs", []):
            milliseconds = sum(
                result["duration"] for test in spec["tests"] for result in test["results"]
            )
            name = f"web/tests/{spec['file']}::{spec['title']}"
            took[name] = took.get(name, 0.0) + milliseconds / 1000
        for inner in suite.get("suites", []):
            read(inner)

    read(report)
    return took


def by_file(took: Mapping[str, float]) -> dict[str, float]:
    """Seconds of each file, the longest first."""
    sums: dict[str, float] = {}
    for test, seconds in took.items():
        file = test.partition("::")[0]
        sums[file] = sums.get(file, 0.0) + seconds
    return dict(sorted(sums.items(), key=lambda each: -each[1]))


def read_durations(path: Path = DURATIONS) -> dict[str, float]:
    """Seconds of files and long tests as they were recorded."""
    if not path.exists():
        return {}
    lines = [line.split("\t") for line in path.read_text().splitlines() if line[:1] != "#"]
    return {name: float(seconds) for seconds, name in lines}


def as_recorded(took: Mapping[str, float]) -> str:
    """The file of what a run took: files by name, and below each its long tests."""
    lines = ["# Seconds of test files and long tests, two quiet processors: `make durations`."]
    for file, seconds in sorted(by_file(took).items()):
        if seconds >= LEAST_S:
            lines.append(f"{seconds:.1f}\t{file}")
        lines += [
            f"{took[test]:.1f}\t{test}"
            for test in sorted(took)
            if test.startswith(f"{file}::") and took[test] >= LONG_S
        ]
    return "\n".join(lines) + "\n"


def grown(now: Mapping[str, float], before: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """Files that take longer than they did: name, seconds before and now."""
    found = [(file, before.get(file, 0.0), seconds) for file, seconds in now.items()]
    return [
        (file, was, is_)
        for file, was, is_ in found
        if is_ > GREW_BY * was and is_ - was > GREW_BY_S
    ]


def report(
    tier: str, seconds: float, took: Mapping[str, float], before: Mapping[str, float]
) -> str:
    """The end of a run: the longest files, and the tier's seconds beside its budget."""
    now = by_file(took)
    lines = ["", f"The {min(LONGEST, len(now))} longest of {len(now)} files of tests:"]
    lines += [f"  {spent:7.1f} s  {file}" for file, spent in list(now.items())[:LONGEST]]
    budget_s = named(tier).budget_s
    said = f"make {tier}: {seconds:,.0f} s, budget {budget_s:,} s"
    if seconds <= budget_s:
        return "\n".join([*lines, f"{said}."])
    lines += ["", "!" * 78, f"OVER BUDGET  {said}."]
    files = grown(now, before)
    lines += [f"  grew from {was:.1f} to {is_:.1f} s: {file}" for file, was, is_ in files]
    if not files:
        lines.append("  no file grew since tests/durations.tsv: is the machine busy?")
    return "\n".join([*lines, "!" * 78])


def named(name: str) -> Tier:
    """A tier by its name. Raises ArgumentTypeError."""
    for tier in TIERS:
        if tier.name == name:
            return tier
    raise argparse.ArgumentTypeError(f"no tier is called {name!r}")


def main(arguments: Sequence[str]) -> int:
    """Run or tell; 1 where a tier failed, 2 for words that mean nothing."""
    parser = argparse.ArgumentParser(prog="tiers", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    for name, what in (("run", "run tiers, a line each"), ("stale", "say which want to be run")):
        several = actions.add_parser(name, help=what)
        several.add_argument("tiers", nargs="*", metavar="TIER", type=named,
                             help=", ".join(tier.name for tier in TIERS))  # fmt: skip
    reporting = actions.add_parser("report", help="say what the last run took")
    reporting.add_argument("--tier", required=True, choices=[tier.name for tier in TIERS])
    reporting.add_argument("--seconds", type=float, required=True)
    actions.add_parser("record", help=f"write what the last run took to {DURATIONS}")
    options = parser.parse_args(arguments)
    os.chdir(REPOSITORY)
    if options.action in ("run", "stale"):
        chosen = options.tiers or TIERS
        if options.action == "run":
            return 1 if run(chosen) else 0
        if lines := stale(chosen):
            print("Older than the code they cover; `make test-all` runs them:")
            print("\n".join(lines))
        return 0
    took = read_run()
    if options.action == "report":
        print(report(options.tier, options.seconds, took, read_durations()))
    elif not took:
        print("no run is kept here: run `make test` first", file=sys.stderr)
        return 1
    else:
        DURATIONS.write_text(as_recorded(took))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
