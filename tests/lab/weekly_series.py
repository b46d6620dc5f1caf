"""A made series whose revisions come week by week: the last one has a patch that costs.

Its patches are those of `tests/series/bisect` that stand on the source as it is, whatever of the
others is applied, so that the place of the slow one is free.
"""

from __future__ import annotations

import re
from pathlib import Path

from mitigauge.core.settings import REPOSITORY
from tests.series_mails import raw_mail

WEEKS = 4
MAILS = REPOSITORY / "tests" / "series" / "bisect"
SLOW, HARMLESS = 6, (1, 7, 8)
SLOW_TITLE = "x86/entry: Count system calls"
_FROM = "Mitigauge Test Series <series@example.org>"
_TITLE = re.compile(r"^Subject: \[PATCH \d+/\d+\] (.+)$", re.MULTILINE)
_SAYS = re.compile(r'^(\+\tpr_info\(".*)(\\n"\);)$', re.MULTILINE)


def revision(folder: Path, week: int, place: int) -> Path:
    """The mails of one revision below *folder*; its own folder.

    Harmless patches say the week, so that each revision is code of its own. *place*: which patch
    of the last week's is the slow one, from 1.
    """
    patches = [_patch(number, week) for number in HARMLESS]
    if week == WEEKS:
        patches.insert(place - 1, _patch(SLOW, week))
    own = folder / f"v{week}"
    own.mkdir(parents=True)
    cover = "Lines of the log, and what else the week brought.\n\n"
    cover += "change-id: 20261128-weekly-test-7c1d5e2f9a04\n\n"
    cover += "".join(f"  {title}\n" for title, _ in patches)
    mails = [("A series that comes week by week", cover), *patches]
    for number, (title, body) in enumerate(mails):
        subject = f"[PATCH v{week} {number}/{len(patches)}] {title}"
        own.joinpath(f"{number:04}.patch").write_bytes(_mail(week, number, subject, body))
    return own


def _patch(number: int, week: int) -> tuple[str, str]:
    """Title and body of one of the stored mails."""
    [file] = MAILS.glob(f"*-{number:04}-*.patch")
    head, body = file.read_text().split("\n\n", 1)
    [title] = _TITLE.findall(head)
    return title, _SAYS.sub(rf"\1, week {week}\2", body)


def _mail(week: int, number: int, subject: str, body: str) -> bytes:
    name = f"20261128-weekly-test-v{week}"
    return raw_mail(
        subject, body, sender=_FROM, ident=f"{name}-{number}", to="test-series@example.org",
        parent=f"{name}-0@example.org" if number else "",
        when=f"2026-11-{2 + 7 * (week - 1):02}T10:{number:02}",
    )  # fmt: skip
