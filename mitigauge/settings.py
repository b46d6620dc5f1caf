"""Settings from the environment (``MITIGAUGE_*``), in one object."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

REPOSITORY = Path(__file__).resolve().parent.parent


class Settings(BaseSettings):
    """Where things live and how long we wait for them."""

    model_config = SettingsConfigDict(env_prefix="MITIGAUGE_", extra="ignore")

    home: Path = Field(REPOSITORY / ".mitigauge", description="state directory")
    database_url: str = Field(
        "", description="PostgreSQL URL; empty: a server of our own inside the state directory"
    )
    blobs_url: str = Field(
        "",
        description="s3://BUCKET/PREFIX for raw files; empty: a directory in the state directory",
    )
    bind: str = Field("127.0.0.1", description="address the service listens on")
    port: int = Field(8600, description="port the service listens on")
    lab_port_base: int = Field(42200, description="SSH ports of the lab hosts start above this")
    lease_seconds: float = Field(90.0, description="time to live of a host lease")
    boot_timeout_s: float = Field(240.0, description="reboot to SSH banner, where a host sets none")
    upload_limit_bytes: int = Field(8 << 20, description="largest result body as sent")
    upload_inflated_limit_bytes: int = Field(64 << 20, description="the same after decompression")
    archive_limit_bytes: int = Field(
        64 << 20, description="largest archive of a boot's job, as a host sends it"
    )
    job_files_limit_bytes: int = Field(
        64 << 20, description="largest sum of a job's unpacked files, captures as far as they fit"
    )
    capture_limit_bytes: int = Field(
        32 << 20, description="largest compressed capture of a profile that is read"
    )

    @property
    def web_root(self) -> Path:
        """Built dashboard (``web/dist``)."""
        return REPOSITORY / "web" / "dist"

    @property
    def blobs(self) -> Path:
        """Directory of raw files, named by SHA-256, unless ``blobs_url`` says otherwise."""
        return self.home / "blobs"


@lru_cache
def get_settings() -> Settings:
    """The process's settings; ``get_settings.cache_clear()`` re-reads the environment."""
    return Settings()
