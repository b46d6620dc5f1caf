"""Folds one capture and prints it: `_fold.py FILE MOST_TEXT MOST_STACKS MOST_BYTES LONGEST_LINE`.

Run by `mitigauge.analysis.profiles.capture.fold` under limits. The first line has the number of
samples and their event, or `refused` and the reason; the folded stacks follow.
"""

from __future__ import annotations

import sys
from pathlib import Path

# Isolated, so this checkout is not looked into by itself.
sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from mitigauge.analysis.profiles.capture.collapse import Collapse, Most
from mitigauge.analysis.profiles.capture.decompress import pieces
from mitigauge.analysis.profiles.capture.folded_text import check_stacks, write_folded
from mitigauge.core.errors import InvalidInput


def main(path: Path, text: int, stacks: int, stack_bytes: int, line: int) -> None:
    """Print the capture in *path*, or why it is none."""
    collapse = Collapse(strict=True, name=path.name, most=Most(stacks, stack_bytes, line))
    out = sys.stdout.buffer
    try:
        with path.open("rb") as stream:
            for piece in pieces(stream, name=path.name, longest=text):
                collapse.feed(piece)
        result = collapse.finish()
        folded = result.stacks()
        check_stacks(folded, name=path.name)
    except InvalidInput as error:
        out.write(b"refused " + " ".join(error.message.split()).encode(errors="replace"))
        return
    out.write(b"%d %b\n" % (result.samples, result.event))
    write_folded(folded, out)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
