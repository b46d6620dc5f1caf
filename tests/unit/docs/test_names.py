"""What pages name exists: paths, links, make targets, settings, drivers."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY, Settings
from mitigauge.core.variables import GONE, IN_FILE, OTHERS
from mitigauge.core.variables import PREFIX as VARIABLE
from mitigauge.measurement.fleet.inventory_values import PREFIX, InventoryValues
from mitigauge.measurement.fleet.power_values import POWER_DRIVERS
from tests.unit.docs.pages import blocks, page, pages, section, spans

PAGES = pages()
# What a checkout has only after set-up, and what lies in the state directory.
MADE = ("web/dist", "web/node_modules", "lab/hosts")
# A file of the project, or of this kind, whichever folder it is in.
FILE = re.compile(r"[\w.-]+\.(py|sh|md|yml|yaml|json|txt|toml|mjs|csv|in)")


def every_span(text: str) -> list[str]:
    """Everything a page sets in code: spans, and the words of its blocks of commands."""
    commands = [b.text for b in blocks(text) if b.language in ("", "sh", "console")]
    return spans(text) + [line.strip() for each in commands for line in each.splitlines()]


@cache
def top_level() -> set[str]:
    """Names in the root of the project, without what tools leave there."""
    return {
        path.name
        for path in REPOSITORY.iterdir()
        if path.name not in (".git", ".venv", ".mitigauge") and not path.name.endswith("_cache")
    }


@cache
def shown_in(name: str) -> set[str]:
    """Files that a page tells its reader to write."""
    return {block.file for block in blocks(PAGES[name]) if block.file}


def is_placeholder(path: str) -> bool:
    """Whether a part of the path stands for a name of the reader's: NAME, FAMILY.yml, fleet."""
    parts = [Path(part).stem for part in path.split("/")]
    return any(re.search(r"(^|-)(fleet|NAME|FAMILY|HASH|VERSION)$", part) for part in parts)


def missing_paths(name: str, text: str) -> list[str]:
    """Paths in code on the page that nothing in the project has."""
    here = (REPOSITORY / name).parent
    missing = []
    for span in spans(text):
        path = span.split(":")[0].removeprefix("./").rstrip("/")
        if not re.fullmatch(r"[\w./*{},-]+", path) or is_placeholder(path):
            continue
        if path in shown_in(name) or path.startswith(MADE):
            continue
        rooted = "/" in path and path.split("/")[0] in top_level()
        if rooted and not any(exists(root, p) for root in (REPOSITORY, here) for p in braces(path)):
            missing.append(span)
    return missing


def braces(path: str) -> list[str]:
    """``a/{b,c}`` as ``a/b`` and ``a/c``."""
    found = re.search(r"\{([^}]*)\}", path)
    if not found:
        return [path]
    options = found[1].split(",")
    return [each for option in options for each in braces(path.replace(found[0], option, 1))]


@cache
def exists(root: Path, pattern: str) -> bool:
    return any(root.glob(pattern)) if pattern else False


@pytest.mark.parametrize("name", PAGES)
def test_paths_on_a_page_exist(name: str) -> None:
    assert missing_paths(name, PAGES[name]) == []


@pytest.mark.parametrize("name", PAGES)
def test_files_that_a_page_names_alone_exist_somewhere(name: str) -> None:
    known = names_of_the_project()
    named = {span for span in spans(PAGES[name]) if FILE.fullmatch(span)}
    # Of what workloads and hosts leave, and of the reader's own.
    written = {Path(file).name for file in shown_in(name)} | LEFT_BY_OTHERS
    assert sorted(named - known - written) == []


LEFT_BY_OTHERS = {
    "acceleration.json",
    "case.json",
    "CASE.json",
    "disk.json",
    "docker-compose.override.yml",
    "facts.json",
    "failed.txt",
    "hosts.yml",
    "manifest.json",
    "profile.json",
    "requirements.txt",
    "run.json",
    "state.json",
    "stats.txt",
    "sitecustomize.py",
}


@cache
def names_of_the_project() -> set[str]:
    """Names of all its files and folders, and of nothing that is built or kept beside them."""
    found: set[str] = set()
    for _, folders, files in os.walk(REPOSITORY):
        folders[:] = [f for f in folders if f not in NOT_OF_THE_PROJECT]
        found |= {*folders, *files}
    return found


NOT_OF_THE_PROJECT = {".git", ".venv", ".mitigauge", "node_modules"}


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    heads = re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", PAGES[name]):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (REPOSITORY / name).parent / file if file else REPOSITORY / name
        lost = not path.exists()
        if not lost and anchor and path.suffix == ".md":
            lost = anchor not in anchors(path.read_text("utf-8"))
        if lost:
            broken.append(target)
    assert broken == []


def test_every_page_is_reached_from_the_index() -> None:
    below = {
        f"docs/{name}"
        for name in re.findall(r"\]\((?!\.\.)([\w./-]+\.md)\)", PAGES["docs/index.md"])
    }
    assert {name for name in PAGES if name.startswith("docs/")} - {"docs/index.md"} == below


def targets() -> set[str]:
    """What make can be asked for."""
    return set(re.findall(r"^([a-z][a-z-]*):", page("Makefile"), re.MULTILINE))


@pytest.mark.parametrize("name", PAGES)
def test_make_targets_on_a_page_exist(name: str) -> None:
    named = {
        word
        for span in every_span(PAGES[name])
        for word in re.findall(r"(?:^|[;&|] *|sudo )make ([a-z][a-z-]*)", span)
    }
    assert named <= targets()


def test_every_make_target_says_what_it_does() -> None:
    said = set(re.findall(r"^([a-z][a-z-]*):.*## \S", page("Makefile"), re.MULTILINE))
    assert said == targets()


SIZES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def as_written(text: str) -> object:
    """The value of a default as the table of settings writes it."""
    number, _, unit = text.partition(" ")
    if unit in SIZES:
        return int(number) * SIZES[unit]
    if re.fullmatch(r"[\d,.]+", text):
        return float(text.replace(",", ""))
    return {"empty": "", "false": False, "true": True}.get(text, text.strip("`"))


def test_the_table_of_settings_is_that_of_the_code() -> None:
    text = section(page("docs/operating.md"), "Settings")
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.+?) \|", text, re.MULTILINE)
    told = {name.lower(): as_written(default) for name, default in rows}
    declared = {name: field.default for name, field in Settings.model_fields.items()}
    assert told.pop("home") == ".mitigauge/` of the checkout"
    assert declared.pop("home") == REPOSITORY / ".mitigauge"
    assert told == declared


def test_variables_that_pages_name_are_read_by_something() -> None:
    sources = "".join(
        path.read_text("utf-8", errors="ignore")
        for folder in ("workloads", "ansible", "scripts", "lab", "pipelines/ci")
        for path in (REPOSITORY / folder).rglob("*")
        if path.is_file() and path.suffix != ".md" and "fixtures" not in path.parts
    )
    sources += page("docker-compose.yml") + page("web/vite.config.ts")
    known = {VARIABLE + name.upper() for name in Settings.model_fields}
    known |= {name + IN_FILE for name in known} | {VARIABLE + name for name in OTHERS}
    named = {n for text in PAGES.values() for n in re.findall(r"MITIGAUGE_[A-Z_]*[A-Z]", text)}
    gone = tuple(VARIABLE + beginning for beginning in GONE)
    assert {n for n in named - known if n not in sources and not n.startswith(gone)} == set()


def test_drivers_that_environments_and_pages_name_exist() -> None:
    inventories = [*(REPOSITORY / "ansible" / "envs").rglob("*.yml")]
    texts = [path.read_text("utf-8") for path in inventories] + [*PAGES.values()]
    # Comments too: they are what a reader copies.
    named = {
        driver
        for text in texts
        for driver in re.findall(r"\bdriver(?:: |s? so far, )`?([a-z]\w*)", text)
    }
    assert named == set(POWER_DRIVERS)


def test_variables_of_hosts_are_explained() -> None:
    table = section(page("ansible/README.md"), "Variables of a host")
    declared = {PREFIX + (f.alias or n) for n, f in InventoryValues.model_fields.items()}
    assert set(re.findall(r"^\| `(mitigauge_\w+)` \|", table, re.MULTILINE)) == declared


# `one` and `other` (`file.py`); `one` in `file.py`
_DEFINED = re.compile(r"((?:`\w+`(?:,| and| or)?\s+)+)(?:\(|in )`([\w/]+\.py)`")


def definitions_named(text: str) -> list[tuple[str, str]]:
    """Each name that a page says a Python file defines, with the file."""
    return [
        (name, file)
        for names, file in _DEFINED.findall(text)
        for name in re.findall(r"`(\w+)`", names)
    ]


def test_what_contributors_are_sent_to_is_defined_there() -> None:
    named = definitions_named(page("CONTRIBUTING.md"))
    assert {"Content", "_markdown", "create_app"} <= {name for name, _ in named}
    lost = [
        (name, file)
        for name, file in named
        if not re.search(rf"^(?:(?:def|class) {name}\b|{name}\b.* = )", page(file), re.MULTILINE)
    ]
    assert lost == []
