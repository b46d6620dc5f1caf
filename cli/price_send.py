"""`mitigauge price send`: a processor's file as a patch in a mail, for whoever keeps the table."""

from __future__ import annotations

import difflib
import subprocess
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import say

if TYPE_CHECKING:
    from mitigauge.analysis.prices.definitions import Processor

FOLDER = "prices/processors"


def send(
    file: Annotated[Path, typer.Argument(help="A processor's file that `price measure` wrote.")],
    sender: Annotated[
        str, typer.Option("--from", help='Who sends it: "Ada Lovelace <ada@example.org>".')
    ] = "",
    output: Annotated[Path | None, typer.Option("-o", help="Write the mail there.")] = None,
) -> None:
    """Make a mail of a processor's file: a patch for `git am`, with its prices as a table.

    Nothing is sent: the mail is printed, or written to a file, for your own mail program or
    `git send-email`. The file says what the machine is (model, microcode, kernel), and no name
    of it but the one that --machine gave.

    Example: mitigauge price send prices/processors/amd-26-2-1.yml -o amd.patch
    """
    from mitigauge.analysis.prices.definitions import Processor
    from mitigauge.core.errors import InvalidInput
    from mitigauge.measurement.catalog import read_definition

    if not file.is_file():
        raise InvalidInput(
            f"{file} is no file", hint="`mitigauge price measure --here -o FOLDER` writes one."
        )
    processor = read_definition(file, Processor, file.parent)
    new = file.read_text(encoding="utf-8")
    patch = _patch(_before(file), new, f"{FOLDER}/{processor.processor}.yml")
    if not patch:
        raise InvalidInput(
            f"{file} is as the table has it: there is nothing to send",
            hint="`mitigauge price measure --here -o FOLDER` adds this machine to it.",
        )
    message = _mail(processor, patch, sender or _git("config", "user.email") or "")
    if output is None:
        typer.echo(message, nl=False)
        return
    output.write_text(message, encoding="utf-8")
    say(f"{output}: send it with `git send-email {output}`, or apply it with `git am {output}`")


def _git(*words: str) -> str | None:
    """What git says in the project's checkout; None where it says nothing."""
    from mitigauge.core.settings import REPOSITORY

    done = subprocess.run(
        ["git", "-C", REPOSITORY, *words], capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else None


def _before(file: Path) -> str | None:
    """The file as the project has it, None: it has none."""
    from mitigauge.core.settings import REPOSITORY

    place = REPOSITORY / FOLDER / file.name
    committed = _git("show", f"HEAD:{FOLDER}/{file.name}")
    if committed is not None or not place.is_file() or place.samefile(file):
        return committed
    return place.read_text(encoding="utf-8")


def _patch(before: str | None, after: str, path: str) -> str:
    """A patch as git has it; empty where nothing differs."""
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True), after.splitlines(keepends=True),
        f"a/{path}" if before is not None else "/dev/null", f"b/{path}",
    )  # fmt: skip
    body = "".join(lines)
    mode = "" if before is not None else "new file mode 100644\n"
    return f"diff --git a/{path} b/{path}\n{mode}{body}" if body else ""


def _mail(processor: Processor, patch: str, sender: str) -> str:
    message = EmailMessage(policy=SMTP.clone(linesep="\n", max_line_length=990))
    message["From"] = " ".join(sender.split()) or "unknown <unknown@localhost>"
    message["Date"] = formatdate()
    message["Subject"] = f"[PATCH] prices: {processor.processor}"
    message.set_content(f"{_table(processor)}\n---\n{patch}-- \nmitigauge\n", cte="8bit")
    return message.as_string()


def _table(processor: Processor) -> str:
    """What a reader wants to know first."""
    lines = [f"{processor.title}, {processor.microarchitecture or 'microarchitecture not known'}"]
    if processor.identity and processor.identity.masked:
        lines.append(f"Masked model: {processor.identity.masked}")
    for machine in processor.machines:
        kind = "virtual" if machine.is_virtual else "bare"
        trusted = "trusted" if machine.is_trusted else "NOT TRUSTED"
        lines.append(
            f"{machine.machine}, {machine.at}: {kind}, Linux {machine.kernel}, microcode "
            f"{machine.microcode or 'not known'}, {trusted} by {len(machine.checks)} checks"
        )
    lines.append("")
    width = max(len(price.event) for price in processor.prices)
    lines += [
        f"{price.event:{width}}  {price.ns:>10.4g} ns  [{price.low:.4g}, {price.high:.4g}]  "
        f"{price.kind.value}"
        for price in processor.prices
    ]
    return "\n".join(lines)
