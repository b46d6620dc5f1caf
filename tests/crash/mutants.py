"""Does a test notice? Each mutation is applied to a copy of the tree, and its tests are run.

Usage: python -m tests.crash.mutants [--only WORDS] [--list] [--processes N]

As many run side by side as there are processors, each in a copy of its own.

Exit code 1 if a mutation survives (all its tests pass), or if one cannot be applied: its old
text does not stand exactly once in its file, or its tests fail without it too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from mitigauge.core.settings import REPOSITORY
from tests.crash.mutation import Mutation
from tests.crash.mutations import MUTATIONS
from tests.postgres import end_left_servers

# Not part of the tree, and needed to run its tests.
LINKS = (".venv", ".mitigauge/tools", "web/node_modules")
TIMEOUT_S = 1800.0
# pytest's exit codes.
PASSED, FAILED = 0, 1


class CannotApply(Exception):
    """The list says something of the code that is not so."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a mutation."""

    mutation: Mutation
    fate: str
    """``noticed``, ``survived``, or why it could not be tried."""
    seconds: float
    by: str = ""
    """The test that noticed it."""

    @property
    def good(self) -> bool:
        """Whether a test noticed it."""
        return self.fate == "noticed"


def copy_tree(into: Path, tree: Path = REPOSITORY) -> Path:
    """A copy of all files that git knows or would take, uncommitted changes included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=tree, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        source, target = tree / name, into / name
        if source.is_file() or source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    for name in LINKS:
        if (tree / name).exists() and not (into / name).exists():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).symlink_to((tree / name).resolve())
    return into


def mutated(mutation: Mutation, text: str) -> str:
    """*text* with the fault in it. Raises :class:`CannotApply`."""
    times = text.count(mutation.old)
    if not mutation.old or times != 1:
        raise CannotApply(f"its old text stands {times} times in {mutation.file}, not once")
    if mutation.old == mutation.new:
        raise CannotApply("it changes nothing")
    return text.replace(mutation.old, mutation.new)


def tried(mutation: Mutation, tree: Path) -> Fate:
    """Apply it to *tree*, run its tests, take it back."""
    began = time.monotonic()
    file = tree / mutation.file
    try:
        text = file.read_text()
        file.write_text(mutated(mutation, text))
    except (OSError, CannotApply) as error:
        return Fate(mutation, f"cannot be applied: {error}", 0.0)
    try:
        code, said = run_tests(tree, mutation.tests)
    finally:
        file.write_text(text)
    seconds = time.monotonic() - began
    if code == PASSED:
        return Fate(mutation, "survived", seconds)
    if code == FAILED:
        return Fate(mutation, "noticed", seconds, _first_failure(said))
    return Fate(mutation, f"its tests did not run (exit code {code}): {said[-300:]}", seconds)


def tried_all(chosen: Sequence[Mutation], trees: Sequence[Path]) -> list[Fate]:
    """What became of each, in their order; as many at once as there are trees."""
    free: SimpleQueue[Path] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def one(mutation: Mutation) -> Fate:
        tree = free.get()
        fate = tried(mutation, tree)
        free.put(tree)
        print(f"  {fate.seconds:5.0f} s  {mutation.name}: {fate.fate}", flush=True)
        return fate

    with ThreadPoolExecutor(len(trees)) as pool:
        return list(pool.map(one, chosen))


def run_tests(tree: Path, tests: Sequence[str], *more: str) -> tuple[int, str]:
    """pytest's exit code and words; a run that does not end has failed."""
    # As ever the same examples: a mutation must not survive by luck, nor die by it. Commands that
    # tests start are those of the copy, though the environment was made for the tree itself.
    own = {"CI": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tree)}
    environment = {**os.environ, **own}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider",
             "--tb=no", "-rfE", *more, *tests],
            cwd=tree, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return FAILED, f"FAILED not over after {TIMEOUT_S:.0f} s"
    return done.returncode, done.stdout + done.stderr


def _first_failure(said: str) -> str:
    lines = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].split(" - ")[0].removeprefix("FAILED ") if lines else ""


def main(arguments: Sequence[str]) -> int:
    """Try them all; the process's exit code."""
    asked = _parser().parse_args(arguments)
    chosen = [m for m in MUTATIONS if asked.only in m.name]
    if asked.list:
        print("\n".join(f"{m.name}: {m.why}" for m in chosen))
        return 0
    with tempfile.TemporaryDirectory(prefix="mgmut-") as directory:
        trees = [copy_tree(Path(directory) / str(n)) for n in range(asked.processes)]
        tests = sorted({test for mutation in chosen for test in mutation.tests})
        print(f"{len(chosen)} mutations; their tests without any of them first", flush=True)
        beside = ["-n", str(asked.processes), "--dist", "loadfile"] if asked.processes > 1 else []
        code, said = run_tests(trees[0], tests, *beside)
        if code != PASSED:
            print(f"the tests fail without any mutation:\n{said[-3000:]}")
            return 1
        fates = tried_all(chosen, trees)
        # Of sessions that were killed because they did not end.
        for tree in trees:
            end_left_servers(tree / ".mitigauge" / "tests")
    bad = [fate for fate in fates if not fate.good]
    print("\n".join(["", *(f"{f.mutation.name:48}{f.by or f.fate}" for f in fates)]))
    print(f"\n{len(fates) - len(bad)} of {len(fates)} mutations were noticed")
    for fate in bad:
        print(f"NOT NOTICED: {fate.mutation.name} ({fate.fate}). {fate.mutation.why}")
    return 1 if bad else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="those whose name has these words")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="side by side")
    parser.add_argument("--list", action="store_true", help="say what there is, and why")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
