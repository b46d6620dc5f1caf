"""Draw the house in docs/house.md from the code: ``python -m tests.house``."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs/house.md"
CONTRACT = "Wings: "
# A word of the glossary → the file or folder in which it is defined.
WORDS: Mapping[str, str] = {
    "kernel, build": "mitigauge/kernels/tables.py",
    "series, revision": "mitigauge/tracking/series/tables.py",
    "request": "mitigauge/tracking/series/request.py",
    "setting": "mitigauge/measurement/modes/settings.py",
    "mode, family": "mitigauge/measurement/modes/families.py",
    "arm, comparison, case, experiment": "mitigauge/measurement/experiments/tables.py",
    "spec": "mitigauge/measurement/experiments/spec_model.py",
    "block, plan": "mitigauge/measurement/experiments/plan.py",
    "metric": "mitigauge/measurement/experiments/metric.py",
    "workload": "mitigauge/measurement/workloads/definitions.py",
    "host, host class, fingerprint": "mitigauge/measurement/fleet/tables.py",
    "clock (real, counted)": "mitigauge/core/clock.py",
    "run, boot, lease": "mitigauge/measurement/runs/tables.py",
    "boot proof": "mitigauge/measurement/runs/proof.py",
    "iteration, result": "mitigauge/measurement/results/schema.py",
    "interim analysis": "pipelines/steps/interim_analysis.py",
    "question (what statistics judge)": "mitigauge/core/stats/question.py",
    "effect, verdict": "mitigauge/core/effect.py",
    "claim": "mitigauge/analysis/claims/tables.py",
    "profile": "mitigauge/analysis/profiles/store/tables.py",
    "sample, collector": "mitigauge/measurement/collectors/samples.py",
    "bisection, candidate, culprit": "mitigauge/tracking/bisect/model.py",
    "trend, change point": "mitigauge/tracking/trends/tables.py",
    "table": "mitigauge/reporting/tables/kinds.py",
    "document": "mitigauge/core/documents/table.py",
    "letter": "mitigauge/reporting/letters",
    "report": "mitigauge/reporting/letters/report/service.py",
    "weekly letter": "mitigauge/reporting/letters/weekly/service.py",
    "subscription, notice, digest": "mitigauge/reporting/subscriptions/tables.py",
    "job (what runs on a host)": "mitigauge/core/wire/job.py",
    "infrastructure fault": "mitigauge/jobs/blame.py",
    "audit log, entry, actor": "mitigauge/access/audit/tables.py",
    "lab": "lab",
}
HEAD = """# The house

`python -m tests.house` draws this page from the code; a test holds it true.

## Where each word is defined

| word | file or folder |
|---|---|
"""
WINGS = """
## Wings

What the service knows, in `mitigauge/`. Each wing imports only from those below it in this list,
and `cli`, `api`, `pipelines` and `lab` from all of them; there is no circle, inside a wing either.
`make check` holds to it (`pyproject.toml`).
"""
FACES = """
## Faces

| folder | holds | modules |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    words = (f"| {word} | `{path}` |" for word, path in sorted(WORDS.items()))
    wings = (line for wing in _wings() for line in _wing(wing))
    return "\n".join([HEAD.rstrip(), *words, FACES.rstrip(), *_faces(), WINGS.rstrip(), *wings, ""])


def _faces() -> Iterator[str]:
    """A line for each top-level package beside the wings."""
    for name in ("cli", "api", "pipelines", "lab", "mitigauge/client"):
        folder = REPOSITORY / name
        yield f"| `{name}/` | {_paragraph(folder)} | {_modules(folder)} |"


def _wings() -> Iterator[Path]:
    """The wings, the highest first, as the import contract has them."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [layers] = [each["layers"] for each in contracts if each["name"].startswith(CONTRACT)]
    for layer in layers:
        name = layer.partition(" ")[0]
        if name.startswith("mitigauge."):
            yield REPOSITORY / name.replace(".", "/")


def _wing(wing: Path) -> Iterator[str]:
    """What a wing says of itself, and a line for each room in it."""
    yield f"\n### `{wing.name}/`: {_modules(wing)} modules\n"
    yield from (ast.get_docstring(_parsed(wing)) or "").splitlines()
    rooms = sorted(path.parent for path in wing.glob("*/__init__.py"))
    if rooms:
        yield "\n| room | holds | modules |\n|---|---|---|"
    for room in rooms:
        yield f"| `{room.name}/` | {_paragraph(room)} | {_modules(room)} |"


def _parsed(folder: Path) -> ast.Module:
    return ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))


def _paragraph(folder: Path) -> str:
    doc = ast.get_docstring(_parsed(folder)) or ""
    return " ".join(doc.split("\n\n")[0].split()).replace("|", "\\|").replace("``", "`")


def _modules(folder: Path) -> int:
    """Modules of a folder, without those of a lab host's image."""
    modules = [path for path in folder.rglob("*.py") if path.name != "__init__.py"]
    return sum("image" not in path.relative_to(folder).parts for path in modules)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(REPOSITORY)} is drawn\n")
