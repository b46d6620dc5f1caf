"""`mitigauge matrix`: which mitigation a kernel chooses, by processor and options."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.output import Json, count_off, print_json, print_table, say

if TYPE_CHECKING:
    from mitigauge.measurement.selection.cells import SelectionSpec
    from mitigauge.measurement.selection.documentation import Documentation
    from mitigauge.measurement.selection.findings import Finding, Matrix
    from mitigauge.measurement.selection.views import SelectionCell

app = typer.Typer(
    no_args_is_help=True,
    help="Which mitigation a kernel chooses, by processor, options and mitigations=.",
)
# As other commands end where something is worse.
WORSE = 3
MOST_PLACES = 4


@app.callback()
def _is_a_group() -> None:
    """Keep the name of the one command."""


@app.command()
def select(
    kernels: Annotated[
        list[str],
        typer.Argument(
            metavar="KERNEL...",
            help="A kernel that was built here, by release or label, or a linux-image-*.deb; the "
            "first one is the base.",
        ),
    ],
    spec: Annotated[
        str, typer.Option(help="A name below experiments/selection, or a file.")
    ] = "vmscape",
    processor: Annotated[
        list[str] | None, typer.Option(help="Only this processor, by its name in the spec.")
    ] = None,
    option: Annotated[list[str] | None, typer.Option(help="Only this option; - is none.")] = None,
    mitigations: Annotated[
        list[str] | None, typer.Option(help="Only this mitigations=…; - is none.")
    ] = None,
    documentation: Annotated[
        list[Path] | None,
        typer.Option(
            help="The kernels' sources, folders with Documentation/admin-guide in them, in their "
            "order: what options' words and states are held against."
        ),
    ] = None,
    side_by_side: Annotated[
        int, typer.Option("--jobs", help="Machines at a time.", min=1, max=64)
    ] = 2,
    to: Annotated[Path | None, typer.Option("--csv", help="Write all cells there.")] = None,
    json: Json = False,
) -> None:
    """Boot kernels on emulated processors under each option, and say what each chose and runs.

    A boot takes some three seconds: no disk, no network, one program that reads sysfs, the
    kernel's log, and the code of functions after the kernel patched itself. What is worse than
    asked, contradicts its code, or is weaker than the first kernel's stands first; the command
    then ends with 3.

    Example: mitigauge matrix select 7.2.12-mg1111 7.2.12-mg2222 --processor Skylake
    """
    from mitigauge.measurement.selection.cells import cells_of, selection_spec
    from mitigauge.measurement.selection.findings import FindingKind, findings
    from mitigauge.measurement.selection.views import selection_cells
    from pipelines.selection_run import boot_cells

    asked = selection_spec(spec)
    texts = _documentation(documentation or [], kernels, asked)
    with tempfile.TemporaryDirectory() as directory:
        images = _images(kernels, Path(directory))
        cells = cells_of(
            asked, list(images), processors=processor or (), options=option or (),
            mitigations=mitigations or (),
        )  # fmt: skip
        matrix = boot_cells(
            asked, cells, images, Path(directory), side_by_side=side_by_side,
            heard=lambda done: count_off("boot", done, len(cells)),
        )  # fmt: skip
    found = findings(asked, matrix, dict(zip(images, texts, strict=False)))
    views = selection_cells(asked, matrix, found)
    if to is not None:
        _write(to, views)
    if json:
        print_json(views)
    else:
        _print(asked, matrix, found, list(images))
    worse = (
        FindingKind.WORSE_THAN_ASKED, FindingKind.WEAKER, FindingKind.CONTRADICTS,
        FindingKind.NO_LONGER_TOLD,
    )  # fmt: skip
    if any(each.kind in worse for each in found):
        raise typer.Exit(WORSE)


def _documentation(
    folders: Sequence[Path], kernels: Sequence[str], asked: SelectionSpec
) -> list[Documentation]:
    """What the sources say of the mitigation, one a kernel."""
    from mitigauge.core.errors import InvalidInput
    from mitigauge.measurement.selection.documentation import PARAMETERS, Documentation, page_file

    if folders and len(folders) != len(kernels):
        raise InvalidInput(
            f"{len(kernels)} kernels, but {len(folders)} sources for their documentation",
            hint="Give the folder of each kernel's source, in the kernels' order.",
        )
    found = []
    for folder in folders:
        parameters = _read(folder / PARAMETERS).decode(errors="replace")
        page = folder / page_file(asked.page)
        # A kernel that does not know the vulnerability has no page of it.
        has_page = bool(asked.page) and page.is_file()
        text = _read(page).decode(errors="replace") if has_page else ""
        found.append(Documentation(parameters, text))
    return found


def _read(file: Path) -> bytes:
    from mitigauge.core.errors import InvalidInput

    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None


def _images(names: Sequence[str], directory: Path) -> dict[str, Path]:
    """Release → image: of kernels whose packages are kept, or of packages that are files."""
    from cli.stored import stored
    from mitigauge.core.errors import InvalidInput
    from mitigauge.core.settings import get_settings
    from mitigauge.kernels import service
    from mitigauge.storage.files.blobs import blob_store
    from pipelines.adapters.selection_machine import image_in, image_of

    blobs, found = blob_store(get_settings()), {}
    for name in names:
        if name.endswith(".deb"):
            own, image = image_in(_read(Path(name)), name, directory)
            found[own] = image
            continue
        with stored() as session:
            kernel = service.show(session, name)
            release, package = kernel.release, kernel.package_sha256
        if not release or not package:
            raise InvalidInput(
                f"kernel {name} is {kernel.state}", hint="`mitigauge kernel build` builds it."
            )
        found[release] = image_of(blobs.read(package), release, directory)
    return found


def _csv_row(cell: SelectionCell) -> dict[str, Any]:
    several = {"log": "; ".join(cell.log), "findings": "; ".join(cell.findings)}
    return cell.model_dump() | several


def _write(to: Path, cells: Sequence[SelectionCell]) -> None:
    from mitigauge.core.documents.csv_text import as_csv
    from mitigauge.core.errors import MitigaugeError
    from mitigauge.measurement.selection.views import SelectionCell

    try:
        with to.open("w", newline="") as file:
            file.writelines(as_csv(list(SelectionCell.model_fields), map(_csv_row, cells)))
    except OSError as error:
        raise MitigaugeError(
            f"{to} cannot be written: {error.strerror}", hint="Give another file."
        ) from error


def _print(
    spec: SelectionSpec, matrix: Matrix, found: Sequence[Finding], releases: Sequence[str]
) -> None:
    from mitigauge.core.documents.parts import counted
    from mitigauge.measurement.selection.console import unproven
    from mitigauge.measurement.selection.findings import grouped

    proven = sum(not unproven(spec, cell, shown) for cell, shown in matrix.items())
    say(f"{spec.title}: {len(matrix)} cells, {proven} proven. Emulated processors.")
    for number, release in enumerate(releases):
        say(f"  kernel {number + 1}: {release}")
    say("")
    for kind, why, each in grouped(found):
        kernel = releases.index(each[0].cell.kernel) + 1
        say(f"{kind}, kernel {kernel}, {counted(len(each), 'cell')}: {why}")
        for one in each[:MOST_PLACES]:
            say(f"    {one.cell}")
        if len(each) > MOST_PLACES:
            say(f"    and {len(each) - MOST_PLACES} more")
    if not found:
        say("nothing contradicts itself, is worse than asked, or has changed")
    states = sorted({shown.state or "no such file" for shown in matrix.values()})
    letters = {state: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[at % 26] for at, state in enumerate(states)}
    say("")
    for state, letter in letters.items():
        say(f"  {letter}  {state}")
    _print_matrix(matrix, letters)


def _print_matrix(matrix: Matrix, letters: dict[str, str]) -> None:
    """A row for each processor and ``mitigations=``; in a cell a letter for each kernel."""
    options = list(dict.fromkeys(cell.option for cell in matrix))
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for cell, shown in matrix.items():
        row = rows.setdefault((cell.processor.name, cell.mitigations), {})
        row.setdefault(cell.option, []).append(letters[shown.state or "no such file"])
    print_table(
        ["processor", "mitigations=", *(each or "-" for each in options)],
        [
            [processor, words.removeprefix("mitigations=") or "-",
             *(" ".join(row.get(option, [])) for option in options)]
            for (processor, words), row in rows.items()
        ],
        empty="",
    )  # fmt: skip
