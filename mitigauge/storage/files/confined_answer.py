"""What a confined program prints of one thing: a model as JSON, or a line ``refused …``."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from mitigauge.core.errors import InvalidInput

_REFUSED = b"refused "
Answer = TypeVar("Answer", bound=BaseModel)


def read_answer(told: bytes, answer: type[Answer], *, name: str) -> Answer:
    """The model in *told*, which hostile bytes may have taken over; people know it as *name*.

    Raises :class:`InvalidInput` with the reason for a refusal, and with the field for what is no
    such model.
    """
    if told.startswith(_REFUSED):
        raise InvalidInput(told.removeprefix(_REFUSED).decode(errors="replace").strip())
    try:
        return answer.model_validate_json(told)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise InvalidInput(f"{name}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error
