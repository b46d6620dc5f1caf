"""A host's answer as a type: what is missing, of another type or too long is a fault of the lab."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from mitigauge.core.hostile_text import clean_text, quoted
from pipelines.host_control import LabFault

Answer = TypeVar("Answer", bound=BaseModel)


def parse_answer(model: type[Answer], said: object, what: str) -> Answer:
    """*said* as the model has it.

    Raises :class:`LabFault` naming the first thing that does not fit; *what* names the answer.
    """
    try:
        return model.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = clean_text(".".join(str(part) for part in first["loc"]))[:100] or "all of it"
        raise LabFault(
            f"{what} is malformed at {place}: {clean_text(first['msg'])[:200]}, "
            f"it is {quoted(first['input'])}",
            hint="No module of ours answers so; look at the host.",
        ) from error
