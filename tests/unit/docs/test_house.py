"""The page that draws the house says what the code is."""

from __future__ import annotations

import re

from tests.house.__main__ import PAGE, REPOSITORY, WORDS, page

MOST_LOOSE = 8


def test_the_house_is_drawn_as_it_is() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "draw it: python -m tests.house"


def test_each_word_has_its_file() -> None:
    assert [path for path in WORDS.values() if not (REPOSITORY / path).exists()] == []


def test_at_most_eight_files_stand_outside_the_rooms() -> None:
    loose = list((REPOSITORY / "mitigauge").glob("*.py"))
    assert len(loose) <= MOST_LOOSE, sorted(path.name for path in loose)


def test_no_module_is_called_by_a_participle() -> None:
    """`asked`, `beside`, `shown` and their like tell nobody what a module is."""
    forbidden = re.compile(
        r"(^|_)(said|told|asked|wanted|found|beside|of|shown|learnt|drafts|judged|listed)$"
    )
    folders = ("mitigauge", "cli", "api", "pipelines", "lab", "workloads", "web/src")
    names = [
        path.relative_to(REPOSITORY).as_posix()
        for folder in folders
        for path in (REPOSITORY / folder).rglob("*")
        if path.suffix in (".py", ".ts", ".tsx") and forbidden.search(path.stem.replace("-", "_"))
    ]
    assert names == []
