"""A counted pass as a host left it, read in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, Field, ValidationError

from mitigauge.analysis.profiles.exact.ledger import Ledger, LedgerFunction
from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.wire.exact import FILE, PACKED_BYTES, STEPS, WINDOW, WINDOWS
from mitigauge.core.wire.limits import LONGEST_DETAIL
from mitigauge.core.wire.profile import OK
from mitigauge.storage.files.confined_answer import read_answer
from mitigauge.storage.files.confinement import Limits, run_confined

PROGRAM = Path(__file__).with_name("_read.py")
LONGEST_FILE = 16 << 20
LIMITS = Limits(seconds=60.0, memory_bytes=1 << 30, output_bytes=48 << 20, wall_seconds=180.0)


class _Said(BaseModel):
    """How the pass went, by exact.json."""

    state: Annotated[str, Field(max_length=40)]
    detail: str = ""
    windows: list[Any] = []


def windows_in(directory: Path) -> list[Path]:
    """The windows' files that exact.json tells of, whether they are there or not.

    Raises :class:`InvalidInput` where there is none, or the pass failed.
    """
    path = directory / FILE
    if not path.is_file():
        raise InvalidInput("the host left none")
    if path.stat().st_size > LONGEST_FILE:
        raise InvalidInput(f"{FILE} has over {LONGEST_FILE} bytes")
    try:
        said = _Said.model_validate(orjson.loads(path.read_bytes()))
    except (ValidationError, orjson.JSONDecodeError) as error:
        raise InvalidInput(f"{FILE}: {clean_text(str(error))[:LONGEST_DETAIL]}") from error
    if said.state != OK:
        raise InvalidInput(clean_text(said.detail)[:LONGEST_DETAIL] or "the pass failed")
    count = STEPS if len(said.windows) == STEPS else WINDOWS
    return [directory / WINDOW.format(number) for number in range(1, count + 1)]


def read_ledger(directory: Path) -> Ledger:
    """The ledger in a case's directory ``exact/``.

    Raises :class:`InvalidInput` where there is none, saying why.
    """
    for window in windows_in(directory):
        if not window.is_file():
            raise InvalidInput(f"{window.name} is missing, or found no room in the job's archive")
        if window.stat().st_size > PACKED_BYTES:
            raise InvalidInput(f"{window.name} has over {PACKED_BYTES} bytes")
    told = run_confined(PROGRAM, [directory], name=FILE, limits=LIMITS)
    found = read_answer(told, Ledger, name=FILE)
    return found.model_copy(update={"functions": [_clean(each) for each in found.functions]})


def _clean(function: LedgerFunction) -> LedgerFunction:
    """The same with names that a terminal and a page can show."""
    return function.model_copy(
        update={
            "name": clean_text(function.name),
            "module": clean_text(function.module),
            "lines": [
                line._replace(text=clean_text(line.text), normal=clean_text(line.normal))
                for line in function.lines
            ],
        }
    )
