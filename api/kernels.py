"""Candidate kernels: what there is, and orders for more."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from api.database import Database
from api.gate import Known, needs
from api.parameters import NameInPath
from mitigauge.access.roles import Right
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import get_settings
from mitigauge.jobs import views
from mitigauge.jobs.schemas import JobView
from mitigauge.kernels import repository, service
from mitigauge.kernels.config_profile import known_profiles
from mitigauge.kernels.host_config import AS_HOST
from mitigauge.kernels.order import KernelOrder
from mitigauge.kernels.order_service import ask_kernel
from mitigauge.kernels.patch import MOST_PATCHES, Patch, read_patch
from mitigauge.kernels.recipe import LAYOUTS
from mitigauge.kernels.schemas import KernelView, PatchText
from mitigauge.measurement.fleet.kernel_profiles import is_by_hosts, profile_for
from mitigauge.storage.files.blobs import blob_store

router = APIRouter(prefix="/api/kernels", tags=["kernels"])


class KernelRequest(BaseModel):
    """A kernel to be built."""

    model_config = ConfigDict(extra="forbid")

    base: str = Field(max_length=200, description="a source package, or NAME@REVISION of a tree")
    profile: str = Field(
        "",
        max_length=500,
        description="a config profile of ours, as-host:ENVIRONMENT/HOST; empty: its hosts decide",
    )
    environment: str = Field(
        "lab", max_length=60, description="of the hosts that decide where no profile is named"
    )
    label: str = Field("", max_length=60, pattern=r"^[\w.+-]*$", description="for people")
    layouts: int = Field(1, ge=1, le=len(LAYOUTS))
    loose: bool = Field(
        False, strict=True, description="whether patches may apply with less context"
    )
    anew: bool = Field(False, strict=True, description="whether what was built is built again")
    patches: list[PatchText] = Field(default_factory=list, max_length=MOST_PATCHES)


@router.get("")
def list_kernels(session: Database) -> list[KernelView]:
    """Kernels that were built here or brought in."""
    return [KernelView.model_validate(kernel) for kernel in repository.kernels(session)]


@router.get("/{name}")
def show_kernel(name: NameInPath, session: Database) -> KernelView:
    """One kernel, by its release, its label, or how its digest begins."""
    return KernelView.model_validate(service.show(session, name))


@router.post("", status_code=202, dependencies=[Depends(needs(Right.APPROVE))])
def build_kernel(wanted: KernelRequest, session: Database, caller: Known) -> JobView:
    """Have a kernel built: its code may then run as root on hosts. The same order is one job."""
    require_known_profile(wanted.profile)
    patches = patches_of(wanted.patches)
    order = KernelOrder(
        base=wanted.base,
        label=wanted.label,
        layouts=wanted.layouts,
        loose=wanted.loose,
        anew=wanted.anew,
    )
    blobs, profile = blob_store(get_settings()), profile_for(wanted.profile, wanted.environment)
    job = ask_kernel(session, blobs, order, profile, patches, asked_by=caller.subject)
    return views.view_job(session, job.id)


def require_known_profile(name: str) -> None:
    """Refuse what is no config profile of ours or of hosts, as a path here. Raises
    :class:`InvalidInput`.
    """
    own = is_by_hosts(name) or name.startswith(f"{AS_HOST}:")
    if not own and name not in known_profiles():
        raise InvalidInput(
            f"no config profile {name!r}",
            hint=f"Known: {', '.join(known_profiles())}; {AS_HOST}:ENVIRONMENT/HOST.",
        )


def patches_of(sent: Sequence[PatchText]) -> list[Patch]:
    """The patches that were sent. Raises :class:`InvalidInput` for one that is none."""
    return [
        read_patch(each.text, f"patch {number}", each.title) for number, each in enumerate(sent, 1)
    ]
