"""Candidate kernels as they are shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.kernels.states import KernelState


class PatchView(BaseModel):
    """One patch of a kernel; *digest*: SHA-256 of its text."""

    title: str
    digest: str


class KernelView(BaseModel):
    """One kernel."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    release: str | None
    digest: str
    state: KernelState
    label: str
    imported: bool
    base: str
    profile: str
    toolchain: str
    layout: str
    patches: list[PatchView]
    loosely: list[str]
    config_refused: list[str]
    build_id: str | None
    content_digest: str | None
    package_bytes: int | None
    log_sha256: str | None
    error: str
    started_at: datetime
    finished_at: datetime | None

    def lines(self) -> Iterator[str]:
        """All of it, a line a fact, for people."""
        said = {
            "release": self.release or "none yet",
            "state": f"{self.state}{': ' + self.error if self.error else ''}",
            "label": self.label,
            "recipe": self.digest[:16],
            "base": self.base or "imported",
            "profile": self.profile,
            "toolchain": self.toolchain,
            "layout": self.layout,
            "build id": self.build_id or "",
            "content": f"SHA-256 {self.content_digest[:16]}…" if self.content_digest else "",
            "package": f"{(self.package_bytes or 0) / 1e6:.1f} MB" if self.package_bytes else "",
        }
        yield from (f"{name + ':':11} {text}" for name, text in said.items() if text)
        for number, patch in enumerate(self.patches, 1):
            yield f"patch {number:>4}: {patch.title}"
        for line in self.loosely:
            yield f"applied loosely: {line}"
        for line in self.config_refused:
            yield f"config did not take {line}"


class PatchToApply(BaseModel):
    """One patch as it would be applied; *sha256*: of its text."""

    model_config = ConfigDict(from_attributes=True)

    title: str
    sha256: str
    files: list[str]


class PatchText(BaseModel):
    """One patch as it is sent."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field("", max_length=300, description="empty: its number")
    text: str = Field(description="as `git format-patch` writes it, or the diff alone")
