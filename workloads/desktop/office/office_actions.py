"""What a desktop of profile office does: LibreOffice through UNO, Chromium, and small tools.

Each action returns its status as a shell would: 0, the status of what failed, or 128 and a signal's
number where an application died. Standard library, and UNO where LibreOffice's documents are.
"""

from __future__ import annotations

import contextlib
import html
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

KINDS = (
    "login", "start", "open", "edit", "save", "recalc", "render", "print", "zip_low", "zip_high",
    "search", "copy",
)  # fmt: skip
SEED = 20260317
PROGRAM_LIMIT_S = 240.0
CONNECT_S = 120.0
LETTERS = "eeeetttaaooiinnsshhrrdlucm"


class Died(Exception):
    """An application ended that should have gone on; the status is a shell's."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class Failed(Exception):
    """An action came to no good end, and its application lives."""


def run(*command: str | Path, folder: Path | None = None) -> str:
    """What a program printed; `Died` where a signal ended it, `Failed` where it says it failed."""
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, cwd=folder, check=False,
            timeout=PROGRAM_LIMIT_S, text=True, errors="replace",
        )  # fmt: skip
    except FileNotFoundError:
        raise Died(127, f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]} had no end in {PROGRAM_LIMIT_S:g} s") from None
    if ended.returncode < 0:
        raise Died(128 - ended.returncode, f"{command[0]}: {ended.stderr[-200:]}")
    if ended.returncode:
        raise Failed(f"{command[0]} ended with {ended.returncode}: {ended.stderr[-200:]}")
    return ended.stdout


def filled(path: Path) -> None:
    """`Failed` unless the file has something in it."""
    if not path.is_file() or not path.stat().st_size:
        raise Failed(f"{path} is empty")


class Words:
    """Text that is the same everywhere."""

    def __init__(self) -> None:
        self.random = random.Random(SEED)

    def line(self, count: int = 10) -> str:
        """So many words of 3 to 9 letters."""
        made = ("".join(self.random.choices(LETTERS, k=self.random.randint(3, 9)))
                for _ in range(count))  # fmt: skip
        return " ".join(made)


class Office:
    """One user's home in `folder`, and the applications that are open there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.docs, self.tree = folder, folder / "docs", folder / "tree"
        self.process: subprocess.Popen[bytes] | None = None
        self.desktop: Any = None
        self.letter: Any = None
        self.table: Any = None

    def furnish(self, work: int) -> None:
        """Documents, a page, a tree of files and a profile, `work` being their size."""
        words = Words()
        for folder in (self.docs, self.tree):
            folder.mkdir(parents=True, exist_ok=True)
        paragraphs = (f"<p>{words.line(40)}</p>" for _ in range(20 * work))
        (self.docs / "letter.html").write_text(f"<html><body>{''.join(paragraphs)}</body></html>")
        rows = (",".join(str(words.random.randrange(1000)) for _ in range(12))
                for _ in range(200 * work))  # fmt: skip
        (self.docs / "table.csv").write_text("\n".join(rows))
        items = (f"<section><h2>{html.escape(words.line(3))}</h2><div style='columns:3'>"
                 f"{words.line(80)}</div></section>" for _ in range(10 * work))  # fmt: skip
        (self.docs / "page.html").write_text(f"<!doctype html><body>{''.join(items)}")
        for number in range(40):
            text = "\n".join(words.line() for _ in range(40 * work))
            (self.tree / f"note-{number:02}.txt").write_text(text)
        for source, form in (("letter.html", "odt:writer8"), ("table.csv", "ods:calc8")):
            run(*self._soffice("first"), "--convert-to", form, "--outdir", self.docs,
                self.docs / source)  # fmt: skip
        filled(self.docs / "letter.odt")
        filled(self.docs / "table.ods")
        run("tar", "-czf", self.folder / "profile.tar.gz", "-C", self.folder, "first")
        shutil.rmtree(self.folder / "first")

    def _soffice(self, profile: str) -> list[str]:
        place = (self.folder / profile).as_uri()
        return ["soffice", f"-env:UserInstallation={place}", "--headless", "--norestore",
                "--nologo", "--nodefault"]  # fmt: skip

    def act(self, kind: str) -> tuple[int, str]:
        """Do one action: its status, and what was said where that is not 0."""
        try:
            getattr(self, f"do_{kind}")()
        except Died as error:
            return error.status, str(error)
        except (Failed, OSError) as error:
            return 1, str(error)
        except Exception as error:  # noqa: BLE001  # UNO raises classes of its own
            return self._status(), f"{type(error).__name__}: {error}"
        return 0, ""

    def _status(self) -> int:
        """Of an action that UNO ended: whether LibreOffice died over it."""
        if self.process is None:
            return 1
        with contextlib.suppress(subprocess.TimeoutExpired):
            ended = self.process.wait(2)
            return 128 - ended if ended < 0 else 128 + signal.SIGABRT
        return 1

    def close(self) -> None:
        """End what is open."""
        if self.process:
            # What was started is a script around the program.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    # The actions, by the names that the host sends.

    def do_login(self) -> None:
        """The profile comes from its archive; LibreOffice starts with the session."""
        self.close()
        shutil.rmtree(self.folder / "first", ignore_errors=True)
        run("tar", "-xzf", self.folder / "profile.tar.gz", "-C", self.folder)
        self.letter = self.table = None
        pipe = f"mitigauge-{os.getpid()}"
        accept = f"--accept=pipe,name={pipe};urp;"
        self.process = subprocess.Popen(
            [*self._soffice("first"), accept], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.desktop = self._connect(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")

    def _connect(self, address: str) -> Any:
        import uno  # of the guest's LibreOffice

        local = uno.getComponentContext()
        resolver = local.ServiceManager.createInstanceWithContext(
            "com.sun.star.bridge.UnoUrlResolver", local
        )
        deadline = time.monotonic() + CONNECT_S
        while True:
            try:
                remote = resolver.resolve(address)
            except Exception:  # noqa: BLE001  # UNO raises classes of its own
                ended = self.process.poll() if self.process else 1
                if ended is not None:
                    raise Died(128 + abs(ended), "soffice ended at its start") from None
                if time.monotonic() > deadline:
                    raise Failed(f"soffice was not there within {CONNECT_S:g} s") from None
                time.sleep(0.05)
            else:
                return remote.ServiceManager.createInstanceWithContext(
                    "com.sun.star.frame.Desktop", remote
                )

    def _loaded(self, path: Path) -> Any:
        import uno  # of the guest's LibreOffice

        hidden = uno.createUnoStruct("com.sun.star.beans.PropertyValue")
        hidden.Name, hidden.Value = "Hidden", True
        found = self.desktop.loadComponentFromURL(path.as_uri(), "_blank", 0, (hidden,))
        if found is None:
            raise Failed(f"{path} was not opened")
        return found

    def do_start(self) -> None:
        """LibreOffice and a browser start anew, each with an empty profile, and end."""
        shutil.rmtree(self.folder / "second", ignore_errors=True)
        run(*self._soffice("second"), "--terminate_after_init")
        if "<html>" not in run(*self._chromium(), "--dump-dom", "about:blank"):
            raise Failed("chromium showed no page")

    def _chromium(self) -> list[str]:
        profile = self.folder / "browser"
        shutil.rmtree(profile, ignore_errors=True)
        # The guest is the sandbox: nothing but its own pages is shown there.
        return ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-dev-shm-usage", f"--user-data-dir={profile}"]  # fmt: skip

    def do_open(self) -> None:
        """A text document is opened."""
        if self.letter is not None:
            self.letter.close(True)
        self.letter = self._loaded(self.docs / "letter.odt")

    def do_edit(self) -> None:
        """A word is replaced all over it, and a paragraph comes before the first."""
        search = self.letter.createReplaceDescriptor()
        search.SearchString, search.ReplaceString = "the", "that"
        self.letter.replaceAll(search)
        text = self.letter.getText()
        text.insertString(text.getStart(), Words().line(40) + "\n", False)

    def do_save(self) -> None:
        """It is stored under another name, down to the disk."""
        target = self.docs / "letter-2.odt"
        self.letter.storeToURL(target.as_uri(), ())
        filled(target)
        run("sync", target)

    def do_recalc(self) -> None:
        """Every formula of a table is calculated: sums and products of its columns."""
        if self.table is None:
            self.table = self._loaded(self.docs / "table.ods")
            sheet = self.table.Sheets.getByIndex(0)
            rows = sheet.Rows.Count
            for row in range(200):
                sheet.getCellByPosition(14, row).Formula = f"=SUMPRODUCT(A{row + 1}:F{row + 1})"
                sheet.getCellByPosition(15, row).Formula = f"=STDEV(A1:L{min(rows, 2000)})+{row}"
        self.table.calculateAll()
        if not self.table.Sheets.getByIndex(0).getCellByPosition(15, 0).Value:
            raise Failed("the table has no result")

    def do_render(self) -> None:
        """The browser shows a page, as a picture."""
        picture = self.folder / "page.png"
        picture.unlink(missing_ok=True)
        run(*self._chromium(), "--window-size=1280,4000", f"--screenshot={picture}",
            (self.docs / "page.html").as_uri())  # fmt: skip
        filled(picture)

    def do_print(self) -> None:
        """A text document becomes a PDF; the one that is open, or one that is opened for it."""
        import uno  # of the guest's LibreOffice

        if self.letter is None:
            self.do_open()
        form = uno.createUnoStruct("com.sun.star.beans.PropertyValue")
        form.Name, form.Value = "FilterName", "writer_pdf_Export"
        target = self.docs / "letter.pdf"
        target.unlink(missing_ok=True)
        self.letter.storeToURL(target.as_uri(), (form,))
        filled(target)

    def _zip(self, name: str, level: int) -> None:
        target = self.folder / name
        target.unlink(missing_ok=True)
        run("zip", "-q", "-r", f"-{level}", target, "tree", folder=self.folder)
        filled(target)

    def do_zip_low(self) -> None:
        """A folder is packed fast."""
        self._zip("low.zip", 1)

    def do_zip_high(self) -> None:
        """A folder is packed small."""
        self._zip("high.zip", 9)

    def do_search(self) -> None:
        """All files are looked through for a word."""
        if not run("grep", "-r", "-c", "-e", "the", "-e", "ones", self.tree):
            raise Failed("nothing was found")

    def do_copy(self) -> None:
        """A folder is copied, down to the disk."""
        target = self.folder / "copy"
        shutil.rmtree(target, ignore_errors=True)
        run("cp", "-r", self.tree, target)
        run("sync", "-f", target)
        filled(target / "note-39.txt")
