"""Which build of a kernel a run's boots must show. Pure."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class KernelBuild(BaseModel):
    """One binary of a release, as our table of kernels has it; digests in hexadecimal.

    A release alone does not name a binary: the same recipe may be built anew, and a host may have
    a package of that name from elsewhere.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    build_id: str
    package_sha256: str
