"""A file of limits as people write it: read with its faults named by their lines. Pure."""

from __future__ import annotations

from pydantic import ValidationError

from mitigauge.analysis.verdicts.metric_limits import Limits
from mitigauge.core.errors import InvalidInput, TooLarge
from mitigauge.core.field_types import located_errors
from mitigauge.core.yaml_file import parse_yaml

# Some hundred lines with their reasons.
LARGEST_BYTES = 64 << 10
HOW_TO_WRITE = "docs/results.md, Limits, says how to write one."


def read_limits(text: str, name: str) -> Limits:
    """The limits of *text*; *name* stands for the file in errors.

    Raises TooLarge, and InvalidInput that names file and line.
    """
    if len(text) > LARGEST_BYTES or len(text.encode(errors="surrogatepass")) > LARGEST_BYTES:
        raise TooLarge(
            f"{name} is over {LARGEST_BYTES >> 10} KiB", hint="Split it into several files."
        )
    document = parse_yaml(text, name)
    try:
        return Limits.model_validate(document.data)
    except ValidationError as error:
        raise InvalidInput(
            "\n".join(located_errors(document, error)), hint=f"Correct the file. {HOW_TO_WRITE}"
        ) from error
