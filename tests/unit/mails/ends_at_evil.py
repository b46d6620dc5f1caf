"""A reader of mails that some mails end, in place of ours."""

from __future__ import annotations

import os
import runpy
import sys
import time
from pathlib import Path

given = sys.stdin.buffer.read()
if b"Subject: evil" in given:
    os.abort()
# Longer than it may, and not for ever: what does not end it must fail its test.
while b"Subject: slow" in given and time.process_time() < 6:
    pass
if b"Subject: large" in given:
    bytes(1 << 30)
if b"Subject: loud" in given:
    print("x" * (2 << 20))
sys.stdin.seek(0)
runpy.run_path(
    str(Path(__file__).resolve().parents[3] / "mitigauge" / "kernels" / "mails" / "_read.py"),
    run_name="__main__",
)
