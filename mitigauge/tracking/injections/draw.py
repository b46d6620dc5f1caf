"""What is put in, and the mails that bring it: all drawn from one seed. Pure but for the files.

A path is a folder of ``experiments/injections``: where the kernel is made slower, by how many
instructions, and what measures it. To add one is to add a folder.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from mitigauge.core.field_types import Closed
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import in_natural_order, read_definition
from mitigauge.measurement.workloads.definitions import Value

FOLDER = REPOSITORY / "experiments" / "injections"
HARMLESS = "harmless"
PLACE = "@INSTRUCTIONS@"
SENDER = "A. Developer <developer@example.org>"
_TITLE = re.compile(r"^Subject: \[PATCH\] (.+)$", re.MULTILINE)


class InjectionPath(Closed):
    """Where a kernel is made slower, and by what that is measured."""

    title: str
    base: str
    profile: str
    spec: str = Field(description="of experiments/series: arms `base` and `this`")
    environment: str
    host: str
    mode: str
    workload: str
    parameters: dict[str, Value]
    metric: str
    instructions: Annotated[tuple[int, ...], Field(min_length=1, max_length=100)] = Field(
        description="how many more each operation runs; one is drawn"
    )


@dataclass(frozen=True, slots=True)
class Draw:
    """What one seed gives."""

    seed: int
    path: str
    instructions: int
    place: int
    """Of the patch that costs, from 1."""
    patches: int


def paths(folder: Path = FOLDER) -> dict[str, InjectionPath]:
    """By the name of their folder. Raises InvalidInput naming file and line of a bad one."""
    return {
        file.parent.name: read_definition(file, InjectionPath, folder)
        for file in in_natural_order(folder.glob("*/path.yml"))
    }


def draw(seed: int, of: Mapping[str, InjectionPath], folder: Path = FOLDER) -> Draw:
    """One slow-down among harmless patches. Raises IndexError without any path."""
    source = random.Random(seed)
    path = source.choice(sorted(of))
    patches = 1 + source.randint(2, len(_harmless(folder)))
    place = source.randint(1, patches)
    return Draw(seed, path, source.choice(of[path].instructions), place, patches)


def write_mails(of: Draw, to: Path, folder: Path = FOLDER) -> None:
    """The series as mails below *to*, as anybody's series comes."""
    source = random.Random(of.seed)
    chosen = source.sample(_harmless(folder), of.patches - 1)
    texts = [file.read_text("utf-8") for file in chosen]
    cost = (folder / of.path / "cost.patch").read_text("utf-8")
    texts.insert(of.place - 1, cost.replace(PLACE, str(of.instructions)))
    to.mkdir(parents=True)
    titles = [_TITLE.findall(text)[0] for text in texts]
    cover = "Small things.\n\n" + "".join(f"  {title}\n" for title in titles)
    bodies = [cover, *(text.split("\n\n", 1)[1] for text in texts)]
    for number, (title, body) in enumerate(zip(["Small things", *titles], bodies, strict=True)):
        to.joinpath(f"{number:04}.patch").write_text(_mail(of, number, title, body), "utf-8")


def _mail(of: Draw, number: int, title: str, body: str) -> str:
    name = f"small-things-{of.seed:x}"
    answers = f"In-Reply-To: <{name}-0@example.org>\n" if number else ""
    return (
        "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
        f"From: {SENDER}\n"
        f"Date: Mon, 2 Nov 2026 10:{number:02}:00 +0000\n"
        f"Message-ID: <{name}-{number}@example.org>\n"
        f"{answers}"
        f"Subject: [PATCH {number}/{of.patches}] {title}\n"
        "To: kernel@example.org\n\n"
        f"{body}"
    )


def _harmless(folder: Path) -> Sequence[Path]:
    return list(in_natural_order((folder / HARMLESS).glob("*.patch")))
