"""What is asked: options of one mitigation by processor and ``mitigations=``. Pure but for files.

A spec is a file of ``experiments/selection``; to ask of another mitigation is to add one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.field_types import Closed, Option, Text, formed
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import in_natural_order, read_definition
from mitigauge.measurement.modes.settings import CpuModel

FOLDER = REPOSITORY / "experiments" / "selection"
MOST_CELLS = 2000
# What stands for an axis on which nothing is said.
NOTHING = "-"


def _option_or_nothing(text: str) -> str:
    if text and (" " in text or "=" not in text):
        raise ValueError("is no option of the form NAME=WORDS")
    return text


Word = Annotated[str, Field(max_length=200), AfterValidator(_option_or_nothing)]
FileName = Annotated[str, formed(r"[a-z0-9_]{1,64}", "a file of sysfs' vulnerabilities")]
Function = Annotated[str, formed(r"[A-Za-z_][A-Za-z0-9_.]{0,126}", "a function of the kernel")]
Axis = Annotated[tuple[Word, ...], Field(min_length=1, max_length=100)]


class Processor(Closed):
    """A processor of the emulator, with options that every boot on it gets."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    cpu: CpuModel
    options: tuple[Option, ...] = Field((), max_length=10)


class SelectionSpec(Closed):
    """All that is asked of one mitigation."""

    name: Annotated[str, formed(r"[a-z0-9][a-z0-9-]{0,59}", "a name")]
    title: Text
    series: tuple[Annotated[str, formed(r"[a-z0-9][a-z0-9-]{0,59}", "a name")], ...] = Field(
        (), max_length=50,
        description="specs of experiments/series: each revision that they measure is asked this",
    )  # fmt: skip
    vulnerability: FileName
    field: Annotated[str, Field(max_length=60)] = Field(
        "", description="the part `FIELD: text` of that file which tells; empty: all of it"
    )
    page: Annotated[str, formed(r"[a-z0-9_-]{0,64}", "a page's name")] = Field(
        "", description="the kernel's page below Documentation/admin-guide/hw-vuln, where it lists "
        "this mitigation's states and words alone",
    )  # fmt: skip
    log: Annotated[str, Field(min_length=1, max_length=60)] = Field(
        description="how the kernel's own lines of it begin"
    )
    functions: Annotated[tuple[Function, ...], Field(min_length=1, max_length=64)] = Field(
        description="whose code tells which choice is patched in"
    )
    asks: tuple[Word, ...] = Field((), description="options that ask for protection")
    options: Axis
    mitigations: Axis
    processors: Annotated[tuple[Processor, ...], Field(min_length=1, max_length=100)]

    @property
    def names(self) -> frozenset[str]:
        """Of all options that any cell may have."""
        own = (word for processor in self.processors for word in processor.options)
        words = (*self.options, *self.mitigations, *own)
        return frozenset(word.partition("=")[0] for word in words if word)


@dataclass(frozen=True, slots=True)
class Cell:
    """One boot."""

    kernel: str
    processor: Processor
    mitigations: str
    option: str

    @property
    def words(self) -> tuple[str, ...]:
        """What it adds to the command line."""
        return (*self.processor.options, *filter(None, (self.mitigations, self.option)))

    def __str__(self) -> str:
        said = " ".join(filter(None, (self.mitigations, self.option))) or "no option"
        return f"{said} on {self.processor.name}"


def selection_spec(name: str, folder: Path = FOLDER) -> SelectionSpec:
    """The spec of that name, or of that file. Raises NotFound, and InvalidInput with its line."""
    file = folder / f"{name}.yml"
    if not file.is_file() and name.endswith(".yml"):
        file = Path(name)
    if not file.is_file():
        known = ", ".join(each.stem for each in in_natural_order(folder.glob("*.yml")))
        raise NotFound(f"no spec {name[:60]!r} of a selection", hint=f"Known: {known}.")
    return read_definition(file, SelectionSpec, file.parent)


def spec_of_series(name: str, folder: Path = FOLDER) -> SelectionSpec | None:
    """What is asked of each revision that the series' spec *name* measures; None: nothing."""
    specs = (selection_spec(file.stem, folder) for file in in_natural_order(folder.glob("*.yml")))
    return next((spec for spec in specs if name and name in spec.series), None)


def cells_of(
    spec: SelectionSpec,
    kernels: Sequence[str],
    *,
    processors: Collection[str] = (),
    options: Collection[str] = (),
    mitigations: Collection[str] = (),
) -> list[Cell]:
    """Every cell, kernel by kernel; a filter names what is kept, :data:`NOTHING` for none said.

    Raises InvalidInput for a filter that nothing meets, and for too many cells.
    """
    chosen = [each for each in spec.processors if not processors or each.name in set(processors)]
    axes = [_chosen(spec.mitigations, mitigations), _chosen(spec.options, options)]
    for asked, known in (
        (processors, [each.name for each in spec.processors]),
        (options, [each or NOTHING for each in spec.options]),
        (mitigations, [each or NOTHING for each in spec.mitigations]),
    ):
        unknown = sorted(set(asked) - set(known))
        if unknown:
            raise InvalidInput(
                f"{spec.name} has no {unknown[0][:60]!r}", hint=f"Known: {'; '.join(known)}."
            )
    cells = [
        Cell(kernel, processor, words, option)
        for kernel, processor in product(kernels, chosen)
        for words, option in product(*axes)
    ]
    if len(cells) > MOST_CELLS:
        raise InvalidInput(
            f"{len(cells)} cells", hint=f"At most {MOST_CELLS} go at once: name fewer processors."
        )
    return cells


def _chosen(of: Iterable[str], asked: Collection[str]) -> list[str]:
    return [each for each in of if not asked or (each or NOTHING) in set(asked)]
