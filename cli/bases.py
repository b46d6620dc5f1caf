"""The option that names what a kernel's patches are applied to."""

from __future__ import annotations

from typing import Annotated

import typer

DEFAULT_BASE = "linux-source-7.2"

Base = Annotated[
    str,
    typer.Option(
        help="A source package of Debian; or TREE@REVISION, with TREE a git repository that "
        "MITIGAUGE_TREES names."
    ),
]

Loose = Annotated[
    bool,
    typer.Option(
        "--loose",
        help="Where a patch does not apply as it is, let two lines of context do, within the "
        "function that it names; every answer then says so.",
    ),
]

SeriesBase = Annotated[
    str,
    typer.Option(
        help="What its patches are applied to, as for `mitigauge kernel build`; base-commit: the "
        "commit that each revision's letter names."
    ),
]
