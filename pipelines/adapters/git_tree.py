"""A local git tree that somebody bisects: its commits, and their content.

The tree is the operator's; what is in it is its authors'. Nothing of it is run here: no hook, no
filter, no pager. Its commits are kept by a ref of ours, so that a force-push loses none of them.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.errors import InvalidInput, MitigaugeError, NotFound
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.patch import LARGEST_BYTES, Patch, read_patch

MOST_COMMITS = 4096
SHORT_S = 120.0
LONG_S = 1800.0
LARGEST_OUTPUT = 64 << 20
KEPT = "refs/mitigauge/bisect"
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_BLOB = re.compile(r"[0-9a-f]{7,64}")
# Nothing that the tree's own configuration names is run, and nothing is fetched.
_SAFELY = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "diff.external=",
    "-c", "protocol.allow=never",
    "--no-pager",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; *people*: its author and those whom its tags name, as ``Name <address>``."""

    id: str
    title: str
    is_merge: bool
    people: Sequence[str]
    files: Sequence[str]


@dataclass(frozen=True, slots=True)
class Line:
    """Commits from after *good* to *bad*, the oldest first; *notes*: what a reader should know."""

    good: str
    bad: str
    commits: Sequence[Commit]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class GitTree:
    """The repository at *directory*."""

    directory: Path

    def line(self, good: str, bad: str) -> Line:
        """The first-parent line from *good* to *bad*, and keep it.

        Raises InvalidInput for ends that are equal, reversed or unrelated, or that lie too far
        apart; NotFound for names that are no commits here.
        """
        first, last = self.resolve(good), self.resolve(bad)
        if first == last:
            raise InvalidInput(
                f"{good} and {bad} are the same commit, {first[:12]}",
                hint="Give two ends: --good the one without the regression, --bad one with it.",
            )
        self._require_related(first, last, good, bad)
        most = f"--max-count={MOST_COMMITS + 1}"
        ids = self._git("rev-list", "--first-parent", "--reverse", most, f"{first}..{last}").split()
        if len(ids) > MOST_COMMITS:
            raise InvalidInput(
                f"more than {MOST_COMMITS} commits lie between {good} and {bad}",
                hint="Choose ends that lie nearer to each other.",
            )
        parent = self._git("rev-parse", "--verify", f"{ids[0]}^").strip()
        if parent != first:
            raise InvalidInput(
                f"{good} ({first[:12]}) is not on the line of first parents of {bad}: it came in "
                f"by a merge, and that line leaves at {parent[:12]}",
                hint=f"Give --good {parent[:12]}, or bisect within the branch that was merged.",
            )
        commits = [self._commit(each) for each in ids]
        merges = [each for each in commits if each.is_merge]
        notes = []
        if merges:
            notes.append(
                f"{len(merges)} of {len(commits)} commits are merges, each taken as one change; "
                f"the first: {merges[0].id[:12]}. A merge that is found can be bisected by itself"
            )
        kept = self._keep(last)
        return Line(first, last, commits, [*notes, *([kept] if kept else [])])

    def resolve(self, name: str) -> str:
        """The full id of a commit. Raises NotFound."""
        if not name or name.startswith("-") or len(name) > 200:
            raise NotFound(f"{name[:80]!r} is no commit", hint="Give a commit's id, tag or branch.")
        status, said = self._run("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
        found = said.strip()
        if status or not _COMMIT.fullmatch(found):
            raise NotFound(
                f"{self.directory} has no commit {name[:80]!r}",
                hint="`git log` there shows what it has; fetch what is missing.",
            )
        return found

    def has(self, commit: str) -> bool:
        """Whether the commit is still there."""
        status, _ = self._run("cat-file", "-e", f"{commit}^{{commit}}")
        return status == 0

    def export(self, commit: str, archive: Path) -> None:
        """Write the commit's files to a tar. Raises NotFound for one that is gone."""
        if not self.has(commit):
            raise NotFound(
                f"commit {commit[:12]} is gone from {self.directory}",
                hint="It was rewritten meanwhile: fetch it again, and the bisection goes on.",
            )
        self._git("archive", "--format=tar", f"--output={archive}", commit, limit_s=LONG_S)

    def reversed(self, commit: str) -> Patch:
        """What takes a commit back, as a patch. Raises InvalidInput for one that is no patch."""
        text = self._git("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index",
                         commit, f"{commit}^")  # fmt: skip
        if len(text) > LARGEST_BYTES:
            raise InvalidInput(f"commit {commit[:12]} is larger than 4 MiB", hint="Revert by hand.")
        return read_patch(text, f"the revert of {commit[:12]}")

    def blob(self, name: str, limit: int) -> bytes | None:
        """A file's content by its (abbreviated) id; None where it is not here, or is larger."""
        if not _BLOB.fullmatch(name):
            return None
        status, size = self._run("cat-file", "-s", f"{name}^{{blob}}")
        if status or int(size) > limit:
            return None
        status, content = self._run_for_bytes("cat-file", "blob", name)
        return None if status else content

    def _require_related(self, first: str, last: str, good: str, bad: str) -> None:
        if self._run("merge-base", "--is-ancestor", first, last)[0] == 0:
            return
        if self._run("merge-base", "--is-ancestor", last, first)[0] == 0:
            raise InvalidInput(
                f"{good} comes after {bad}: the ends are reversed",
                hint="--good is the earlier one. For a commit that made it faster, say the same "
                "ends the right way round: what counts as worse is the metric's own.",
            )
        status, base = self._run("merge-base", first, last)
        where = f"; they parted at {base.strip()[:12]}" if status == 0 else ""
        raise InvalidInput(
            f"{good} is no ancestor of {bad}{where}",
            hint="Give ends on one line of history.",
        )

    def _commit(self, commit: str) -> Commit:
        said = self._git("show", "--no-patch", "--format=%P%x00%s%x00%an <%ae>%x00%b", commit)
        parents, title, author, body = said.split("\0", 3)
        tags = re.findall(r"^(?:Signed-off-by|Reviewed-by|Acked-by|Cc): (.{3,200})$", body, re.M)
        files = self._git("diff", "--name-only", "--no-ext-diff", f"{commit}^", commit)
        return Commit(
            id=commit,
            title=clean_text(title)[:300],
            is_merge=len(parents.split()) > 1,
            people=[clean_text(each) for each in dict.fromkeys([author, *tags])][:50],
            files=[clean_text(each) for each in files.splitlines()[:200]],
        )

    def _keep(self, last: str) -> str:
        """Keep the line by a ref of ours; what to say where that cannot be done."""
        status, _ = self._run("update-ref", f"{KEPT}/{last[:16]}", last)
        if status == 0:
            return ""
        return (
            f"{self.directory} cannot be written to: where its branches are rewritten and cleaned "
            "up meanwhile, commits may be gone"
        )

    def _git(self, *words: str, limit_s: float = SHORT_S) -> str:
        status, said = self._run(*words, limit_s=limit_s)
        if status:
            raise MitigaugeError(
                f"git {words[0]} in {self.directory}: {clean_text(said[-400:].strip())}",
                hint="Try the same by hand.",
            )
        return said

    def _run(self, *words: str, limit_s: float = SHORT_S) -> tuple[int, str]:
        status, said = self._run_for_bytes(*words, limit_s=limit_s)
        return status, said.decode(errors="replace")

    def _run_for_bytes(self, *words: str, limit_s: float = SHORT_S) -> tuple[int, bytes]:
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "GIT_OPTIONAL_LOCKS": "0",
                       "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}  # fmt: skip
        if not self.directory.is_dir():
            raise NotFound(f"{self.directory} is no directory", hint="Give a git tree: --tree DIR.")
        try:
            done = subprocess.run(
                ["git", *_SAFELY, "-C", str(self.directory), *words],
                capture_output=True, timeout=limit_s, env=environment, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise MitigaugeError(
                f"git {words[0]} in {self.directory} took longer than {limit_s:.0f} s",
                hint="Try the same by hand.",
            ) from error
        except FileNotFoundError as error:
            raise MitigaugeError("git is not installed", hint="apt-get install git") from error
        said = done.stdout if done.returncode == 0 else done.stderr
        return done.returncode, said[:LARGEST_OUTPUT]
