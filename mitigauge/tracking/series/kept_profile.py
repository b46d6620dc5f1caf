"""A series' config profile: its text is kept, so that a file that changes changes no series."""

from __future__ import annotations

from collections.abc import Sequence

from mitigauge.kernels.config_profile import Profile, profile_of
from mitigauge.kernels.order import KernelInputs
from mitigauge.measurement.fleet.kernel_profiles import is_by_hosts, profile_on
from mitigauge.measurement.fleet.service import HostVars
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.series.tables import Series


def profile_of_series(series: Series, hosts: Sequence[HostVars], blobs: BlobStore) -> Profile:
    """What its kernels for *hosts* are configured by: what is kept, unless for other hosts.

    Raises NotFound for hosts whose configuration is not known, and InvalidInput where none fits
    all of them.
    """
    name = profile_on(series.profile, hosts)
    if series.profile_sha256 is not None:
        kept = KernelInputs.read(blobs, series.profile_sha256).config_profile()
        if kept.name == name or not is_by_hosts(series.profile):
            return kept
    return profile_of(name)


def keep_profile(series: Series, hosts: Sequence[HostVars], blobs: BlobStore) -> Profile:
    """The same, kept for its later revisions. Raises as :func:`profile_of_series`."""
    profile = profile_of_series(series, hosts, blobs)
    series.profile_sha256 = KernelInputs.of(profile, ()).put(blobs)
    return profile
