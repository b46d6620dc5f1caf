"""The checks of what changed, within a minute: formatting, types and the nearest tests.

Compares with where this branch left main, the work tree included. Test files are found by what
they import: those that import a changed module come first, those that reach it through others
behind them, nearest and shortest first, as many as the budget has time for.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import grimp

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("mitigauge", "cli", "lab", "api", "pipelines", "bench", "tests")
# As tests/conftest.py leaves them, by test, in seconds.
DURATIONS = Path(".pytest_cache/v/mitigauge/durations")
# Of a file that has not run here yet.
UNKNOWN_S = 4.0
# Reading a test file, its modules and its fixtures costs some even where its tests cost nothing.
FILE_S = 0.2
BUDGET_S = 50.0
DEPTH = 4
PROCESSES = 2
LEFT_OUT = "not lab and not browser and not deploy and not measured and not deep"
SHOWN = 8
WEB_CODE = (".ts", ".tsx", ".js", ".mjs")


@dataclass(frozen=True, slots=True)
class Found:
    """A test file, and why it is one of what changed."""

    path: str
    distance: int
    """Imports between it and what changed; 0 where it changed itself."""
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Which files run, and which do not for want of time."""

    run: tuple[Found, ...]
    left: tuple[Found, ...]


def module_of(path: str) -> str | None:
    """Name of the module in a file of the project; None where it is in no package."""
    if not path.endswith(".py") or path.partition("/")[0] not in PACKAGES:
        return None
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_test(path: str) -> bool:
    """Whether pytest looks for tests in the file."""
    return path.startswith("tests/") and Path(path).name.startswith("test_") and path[-3:] == ".py"


def reached(
    importers: Mapping[str, Collection[str]], changed: Iterable[str], depth: int
) -> dict[str, tuple[str, ...]]:
    """The shortest chain from each module back to a changed one, of at most *depth* imports."""
    chains: dict[str, tuple[str, ...]] = {name: (name,) for name in sorted(changed)}
    front = list(chains)
    for _ in range(depth):
        further: dict[str, tuple[str, ...]] = {}
        for name in front:
            for importer in sorted(importers.get(name, ())):
                if importer not in chains:
                    further.setdefault(importer, (importer, *chains[name]))
        chains |= further
        front = list(further)
    return chains


def why_of(chain: Sequence[str]) -> str:
    """A chain of imports in words."""
    if len(chain) == 1:
        return "changed"
    between = f" through {', '.join(chain[1:-1])}" if len(chain) > 2 else ""
    return f"imports {chain[-1]}{between}"


def mentioned(text: str, path: str) -> str | None:
    """What of *path* a test names: itself, else the nearest folder that is not a top-level one."""
    parts = path.split("/")
    names = [path, *("/".join(parts[:end]) for end in range(len(parts) - 1, 1, -1))]
    return next((name for name in names if name in text), None)


def tests_of(
    changed: Sequence[str],
    importers: Mapping[str, Collection[str]],
    texts: Mapping[str, str],
    depth: int,
) -> list[Found]:
    """Test files of the changed files, nearest first; *texts* has those there are."""
    modules = {path: module_of(path) for path in changed}
    chains = reached(importers, {name for name in modules.values() if name}, depth)
    found: dict[str, Found] = {}
    for path, text in sorted(texts.items()):
        chain = chains.get(module_of(path) or "")
        if chain:
            found[path] = Found(path, len(chain) - 1, why_of(chain))
            continue
        # What is no module of a package is loaded, run or read by its name.
        for other in sorted(other for other, module in modules.items() if module is None):
            if name := mentioned(text, other):
                distance = 1 + other.count("/") - name.count("/")
                found[path] = Found(path, distance, f"names {name}")
                break
    return sorted(found.values(), key=lambda each: (each.distance, each.path))


def seconds_of(durations: Mapping[str, float], paths: Iterable[str]) -> dict[str, float]:
    """What each file's tests took when they ran last, all together."""
    sums: dict[str, float] = {}
    for test, seconds in durations.items():
        path = test.partition("::")[0]
        sums[path] = sums.get(path, 0.0) + seconds
    return {path: FILE_S + sums.get(path, UNKNOWN_S) for path in paths}


def chosen(found: Sequence[Found], seconds: Mapping[str, float], budget_s: float) -> Choice:
    """The nearest files, of those the shortest, that fit into the budget."""
    run: list[Found] = []
    left: list[Found] = []
    for each in sorted(found, key=lambda f: (f.distance, seconds[f.path], f.path)):
        fits = seconds[each.path] <= budget_s
        budget_s -= seconds[each.path] if fits else 0.0
        (run if fits else left).append(each)
    return Choice(tuple(run), tuple(left))


def git(*arguments: str) -> list[str]:
    """Lines that git prints."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.split("\0" if "-z" in arguments else "\n") if line]


def changed_files(base: str | None) -> tuple[str, list[str]]:
    """The commit compared with, and what differs from it now, new and deleted files included."""
    if base is None:
        known = git("for-each-ref", "--format=%(refname)", "refs/heads/main",
                    "refs/remotes/origin/main")  # fmt: skip
        base = git("merge-base", "HEAD", known[0])[0] if known else "HEAD"
    names = git("diff", "--name-only", "--no-renames", "-z", base)
    return base, sorted({*names, *git("ls-files", "--others", "--exclude-standard", "-z")})


def importers_of_all() -> dict[str, set[str]]:
    """Who imports each module; whoever imports a part of a package imports the package too."""
    present = [name for name in PACKAGES if Path(name, "__init__.py").exists()]
    graph = grimp.build_graph(*present, cache_dir=".import_linter_cache")
    importers = {name: set(graph.find_modules_that_directly_import(name)) for name in graph.modules}
    for name in sorted(importers, reverse=True):
        package = name.rpartition(".")[0]
        if package in importers and package != "":
            importers[package] |= importers[name]
    return importers


def ran(title: str, command: Sequence[str | Path], cwd: str = ".") -> bool:
    """Run a check; its output only where it fails."""
    began = time.monotonic()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    verdict = "FAILED" if done.returncode else "OK"
    print(f"{title:<34} {verdict:<6} {time.monotonic() - began:5.1f} s", flush=True)
    if done.returncode:
        print("\n".join(f"    {line}" for line in (done.stdout + done.stderr).splitlines()[-80:]))
    return done.returncode == 0


def is_shell(path: str) -> bool:
    """Whether a shell runs the file, by its first line."""
    with Path(path).open("rb") as file:
        first = file.readline(200)
    return first.startswith(b"#!") and first.rstrip().endswith((b"sh", b"bash"))


def checked(present: Sequence[str]) -> list[bool]:
    """Formatting and types of the changed files that there are."""
    python = [path for path in present if path.endswith((".py", "/run"))]
    apart = [path for path in python if path.startswith(("workloads/", "ansible/"))]
    yaml = [path for path in present if path.endswith(".yml")]
    shell = [path for path in present if is_shell(path)]
    web = [path.removeprefix("web/") for path in present if path.startswith("web/")]
    scripted = [path for path in web if path.endswith(WEB_CODE)]
    node = Path("node_modules/.bin")
    verdicts = []
    if python:
        verdicts += [
            ran("ruff format", ["ruff", "format", "--check", "--force-exclude", *python]),
            ran("ruff check", ["ruff", "check", "--force-exclude", *python]),
            ran("order of imports", ["lint-imports"]),
            ran("mypy", ["mypy"]),
        ]
    if apart:
        verdicts.append(ran("mypy: workloads, roles", ["scripts/types"]))
    if shell:
        verdicts.append(ran("shellcheck", ["shellcheck", *shell]))
    if yaml:
        strict = ["yamllint", "--strict", "-c", "scripts/yamllint.yml"]
        verdicts.append(ran("yamllint", [*strict, *yaml]))
    if web:
        unknown = ["--ignore-unknown", "--log-level", "warn"]
        verdicts.append(ran("prettier", [node / "prettier", "--check", *unknown, *web], "web"))
    if scripted:
        quiet = ["--max-warnings", "0", "--no-warn-ignored"]
        verdicts += [
            ran("tsc", [node / "tsc", "--noEmit"], "web"),
            ran("eslint", [node / "eslint", *quiet, *scripted], "web"),
            ran("vitest related", [node / "vitest", "related", "--run", "--passWithNoTests",
                                   *scripted], "web"),
        ]  # fmt: skip
    return verdicts


def shown(choice: Choice, seconds: Mapping[str, float], budget_s: float) -> str:
    """What runs and why, and what does not."""
    if not choice.run and not choice.left:
        return "no test file imports or names what changed"
    lines = [
        f"{len(choice.run)} test files, some {sum(seconds[f.path] for f in choice.run):.0f} s"
        f" of work:"
    ]
    lines += [f"  {seconds[f.path]:5.1f} s  {f.path}: {f.why}" for f in choice.run]
    if choice.left:
        whole = sum(seconds[f.path] for f in choice.left)
        lines.append(
            f"left out for want of time (BUDGET={budget_s:.0f}): {len(choice.left)} files,"
            f" some {whole:.0f} s:"
        )
        lines += [f"  {seconds[f.path]:5.1f} s  {f.path}: {f.why}" for f in choice.left[:SHOWN]]
        if len(choice.left) > SHOWN:
            lines.append(f"  and {len(choice.left) - SHOWN} that are further away or longer")
    return "\n".join(lines)


def known_durations() -> dict[str, float]:
    """By test, what it took when it ran last; nothing where none has run."""
    try:
        told: dict[str, float] = json.loads(DURATIONS.read_text())
    except FileNotFoundError:
        return {}
    return told


def main(arguments: Sequence[str]) -> int:
    """Check what changed; 1 where something is wrong with it."""
    parser = argparse.ArgumentParser(prog="make quick", description=__doc__)
    parser.add_argument("--base", help="a commit to compare with instead of where main was left")
    parser.add_argument("--depth", type=int, default=DEPTH, help="imports in between, at most")
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds of tests' work")
    parser.add_argument("--list", action="store_true", help="only tell what would run")
    options = parser.parse_args(arguments)
    os.chdir(REPOSITORY)
    # Before the folder of this file, whose bench.py is not the package bench.
    sys.path.insert(0, str(REPOSITORY))
    base, changed = changed_files(options.base)
    print(f"{len(changed)} files differ from {base[:12]}")
    texts = {path: Path(path).read_text() for path in map(str, Path("tests").rglob("test_*.py"))}
    texts = {path: text for path, text in texts.items() if not path.startswith("tests/lab/")}
    found = tests_of(changed, importers_of_all(), texts, options.depth)
    seconds = seconds_of(known_durations(), texts)
    choice = chosen(found, seconds, options.budget)
    if options.list:
        print(shown(choice, seconds, options.budget))
        return 0
    verdicts = checked([path for path in changed if Path(path).is_file()])
    print(shown(choice, seconds, options.budget), flush=True)
    if choice.run:
        files = [each.path for each in choice.run]
        command = [sys.executable, "-m", "pytest", "-m", LEFT_OUT, "-n", str(PROCESSES)]
        done = subprocess.run([*command, *files], check=False)
        # 5: none of the files holds a test that runs here.
        verdicts.append(done.returncode in (0, 5))
    subprocess.run([sys.executable, "scripts/tiers.py", "stale"], check=False)
    print("OK" if all(verdicts) else "FAILED")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
