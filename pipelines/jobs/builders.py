"""A builder of kernels as a job uses it: told when to stop, and fenced."""

from __future__ import annotations

from mitigauge.core.settings import get_settings
from mitigauge.storage.files.blobs import blob_store
from pipelines.jobs.context import JobContext
from pipelines.kernel_build import Builder


def builder_of(context: JobContext) -> Builder:
    """Where this machine builds kernels; what it says goes to the job's log."""
    settings = get_settings()
    return Builder(
        settings.home / "kernels",
        context.engine,
        blob_store(settings),
        report=context.say,
        detail=context.progress,
        why_to_stop=context.why_to_stop,
        fence=context.fence,
    )
