"""Draw the house in docs/house.md from the code: ``python -m tests.house``."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs/house.md"
CONTRACT = "Floors: "
# A word of the glossary → the file or folder in which it is defined.
WORDS: Mapping[str, str] = {
    "kernel, build": "mitigauge/kernels/tables.py",
    "series, revision": "mitigauge/series/tables.py",
    "request": "mitigauge/series/request.py",
    "setting": "mitigauge/modes/settings.py",
    "mode, family": "mitigauge/modes/families.py",
    "arm, comparison, case, experiment": "mitigauge/experiments/tables.py",
    "spec": "mitigauge/experiments/spec_model.py",
    "block, plan": "mitigauge/experiments/plan.py",
    "metric": "mitigauge/experiments/metric.py",
    "workload": "mitigauge/workloads/definitions.py",
    "host, host class, fingerprint": "mitigauge/fleet/tables.py",
    "clock (real, counted)": "mitigauge/clock.py",
    "run, boot, lease": "mitigauge/runs/tables.py",
    "boot proof": "mitigauge/runs/proof.py",
    "iteration, result": "mitigauge/results/schema.py",
    "interim analysis": "pipelines/steps/interim_analysis.py",
    "question (what statistics judge)": "mitigauge/stats/question.py",
    "effect, verdict": "mitigauge/effect.py",
    "claim": "mitigauge/claims/tables.py",
    "profile": "mitigauge/profiles/store/tables.py",
    "sample, collector": "mitigauge/collectors/samples.py",
    "bisection, candidate, culprit": "mitigauge/bisect/model.py",
    "trend, change point": "mitigauge/trends/tables.py",
    "table": "mitigauge/tables/kinds.py",
    "document": "mitigauge/documents/table.py",
    "letter": "mitigauge/letters",
    "report": "mitigauge/letters/report/service.py",
    "weekly letter": "mitigauge/letters/weekly/service.py",
    "subscription, notice, digest": "mitigauge/subscriptions/tables.py",
    "job (what runs on a host)": "mitigauge/wire/job.py",
    "infrastructure fault": "mitigauge/jobs/blame.py",
    "audit log, entry, actor": "mitigauge/audit/tables.py",
    "lab": "lab",
}
HEAD = """# The house

`python -m tests.house` draws this page from the code; a test holds it true.

## Where each word is defined

| word | file or folder |
|---|---|
"""
ROOMS = """
## Rooms

| room | holds | modules |
|---|---|---|
"""
FLOORS = """
## Floors

Each floor imports only from those below it; rooms on one floor that are separated by `|` do not
know each other. `make check` holds to it (`pyproject.toml`).

| floor | rooms |
|---|---|
"""


def page() -> str:
    """The whole page."""
    words = (f"| {word} | `{path}` |" for word, path in sorted(WORDS.items()))
    return "\n".join(
        [HEAD.rstrip(), *words, ROOMS.rstrip(), *_rooms(), FLOORS.rstrip(), *_floors(), ""]
    )


def _rooms() -> Iterator[str]:
    """A line for each package, with the first sentence of what it says of itself."""
    folders = [REPOSITORY / name for name in ("cli", "api", "pipelines", "lab")]
    folders += sorted(path.parent for path in (REPOSITORY / "mitigauge").glob("*/__init__.py"))
    for folder in folders:
        modules = [path for path in folder.rglob("*.py") if path.name != "__init__.py"]
        own = [path for path in modules if "image" not in path.relative_to(folder).parts]
        name = folder.relative_to(REPOSITORY)
        yield f"| `{name}/` | {_first_line(folder / '__init__.py')} | {len(own)} |"
    loose = sorted(path.stem for path in (REPOSITORY / "mitigauge").glob("[!_]*.py"))
    yield f"| `mitigauge/` itself | {', '.join(f'`{name}`' for name in loose)} | {len(loose)} |"


def _first_line(path: Path) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.split("\n\n")[0].split()).replace("|", "\\|").replace("``", "`")


def _floors() -> Iterator[str]:
    """The layers of the import contract, the highest first."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [layers] = [each["layers"] for each in contracts if each["name"].startswith(CONTRACT)]
    for number, layer in enumerate(layers):
        rooms = layer.replace("mitigauge.", "").replace("|", "\\|")
        yield f"| {len(layers) - number} | {rooms} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(REPOSITORY)} is drawn\n")
