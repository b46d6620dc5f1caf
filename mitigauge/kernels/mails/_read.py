"""Reads mails from stdin, each after a line with its length, and prints a line of JSON for each.

Run by `mitigauge.kernels.mails.reader` under limits.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

# Isolated, so this checkout is not looked into by itself.
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from mitigauge.kernels.mails.heads import NoMail
from mitigauge.kernels.mails.mime import values_of


def main() -> None:
    """Print what each mail holds, or why it cannot be read."""
    given, out = sys.stdin.buffer, sys.stdout.buffer
    while length := given.readline():
        raw = given.read(int(length))
        try:
            values = values_of(raw)
        except NoMail as error:
            values = {"fault": str(error)}
        out.write(json.dumps(values, ensure_ascii=False).encode(errors="replace") + b"\n")


if __name__ == "__main__":
    main()
