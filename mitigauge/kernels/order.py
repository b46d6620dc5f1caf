"""An order for a kernel as it is stored until a worker takes it. Pure but for the blob store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from mitigauge.kernels.config_profile import Profile
from mitigauge.kernels.patch import Patch
from mitigauge.storage.files.blobs import BlobStore


class KernelOrder(BaseModel):
    """What is to be built. *base*: a source package, or ``TREE@REVISION``.

    *layouts*: how many builds, each with functions at other addresses.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str
    label: str = ""
    layouts: int = 1
    loose: bool = False
    anew: bool = False


class _StoredPatch(BaseModel):
    title: str
    text: str


class KernelInputs(BaseModel):
    """Texts that an order needs: a configuration, and patches in their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: str
    config: str
    whole: bool = False
    patches: list[_StoredPatch] = []

    @classmethod
    def of(cls, profile: Profile, patches: Sequence[Patch]) -> KernelInputs:
        """Of a profile and patches."""
        return cls(
            profile=profile.name,
            config=profile.text,
            whole=profile.whole,
            patches=[_StoredPatch(title=each.title, text=each.text) for each in patches],
        )

    def put(self, blobs: BlobStore) -> str:
        """Keep them; their digest."""
        return blobs.put(self.model_dump_json().encode())

    @classmethod
    def read(cls, blobs: BlobStore, digest: str) -> KernelInputs:
        """Those of that digest."""
        return cls.model_validate_json(blobs.read(digest))

    def config_profile(self) -> Profile:
        """The configuration."""
        return Profile(self.profile, self.config, self.whole)

    def patch_list(self) -> list[Patch]:
        """The patches."""
        return [Patch(each.title, each.text) for each in self.patches]


def subject_of(order: KernelOrder, inputs_sha256: str) -> str:
    """By what an order is known: two of the same are one job, whatever they are called."""
    same = order.model_dump_json(exclude={"label"})
    return hashlib.sha256(f"{same}\0{inputs_sha256}".encode()).hexdigest()
