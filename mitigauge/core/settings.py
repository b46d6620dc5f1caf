"""Settings from the environment (``MITIGAUGE_*``), in one object."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal, get_args
from urllib.parse import quote, unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from mitigauge.core.errors import InvalidInput
from mitigauge.core.variables import PREFIX, said_in
from mitigauge.core.wire.limits import CAPTURE_BYTES

# The directory that holds the packages of code.
CODE: Final = Path(__file__).resolve().parents[2]
_SHARE = Path(__file__).resolve().parents[1] / "share"
IS_CHECKOUT: Final = not _SHARE.is_dir()
# Below it stand workloads, modes, playbooks, migrations: the checkout, or the installed package's
# copy of these (setup.py).
REPOSITORY: Final = CODE if IS_CHECKOUT else _SHARE

# What stands before the host in a database's URL, and the rest.
_DATABASE = re.compile(r"(?P<scheme>[^:/]+://)(?:(?P<user>[^:@/?#]*)@)?(?P<rest>[^@]*)")
_TREE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_LOGGER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}")
Level = Literal["debug", "info", "warning", "error"]


def _default_home() -> Path:
    """The checkout's ``.mitigauge``, or the user's own state directory (XDG)."""
    if IS_CHECKOUT:
        return REPOSITORY / ".mitigauge"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "mitigauge"


def _without_credentials(address: str) -> str:
    """An address that is shown and logged holds nothing that lets somebody in."""
    parts = urlsplit(address)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(
            "an address without user, password, ? and # is wanted; what proves who asks is "
            "given by the setting that ends in _TOKEN"
        )
    return address


ServerAddress = Annotated[str, AfterValidator(_without_credentials)]


class Settings(BaseModel):
    """Where things live and how long we wait for them."""

    model_config = ConfigDict(extra="forbid", validate_default=True)

    home: Path = Field(_default_home(), description="state directory")
    database_url: str = Field(
        "",
        repr=False,
        description="PostgreSQL URL; empty: a server of our own inside the state directory",
    )
    database_password: str = Field(
        "", repr=False, description="password for database_url, as it is: any characters"
    )
    blobs_url: str = Field(
        "",
        description="s3://BUCKET/PREFIX for raw files; empty: a directory in the state directory",
    )
    environments: str = Field(
        "",
        description="directory of the team's environments, a folder with its hosts.yml each; "
        "empty: ansible/envs of the checkout, or environments/ of the state directory",
    )
    server: str = Field(
        "", description="address of a service that commands go to; empty: this machine's own state"
    )
    token: str = Field("", repr=False, description="token by which that service knows who asks")
    server_ca_file: str = Field(
        "",
        description="certificates, as PEM, of the authorities that service's one is checked "
        "against; empty: the machine's",
    )
    processors: str = Field(
        "",
        description="files of prices/processors, with commas between, whose predictions are shown "
        "first, after those for this machine's own processor",
    )
    confirm_boots_week: int = Field(
        160,
        ge=0,
        le=100_000,
        description="boots a week and host class that may be ordered to confirm what trends show "
        "as slower; 0: none is ordered",
    )
    bisect_confirmed_boots: int = Field(
        0,
        ge=0,
        le=10_000,
        description="budget of the bisection that a confirmed regression goes on into by itself, "
        "in boots; 0: a person starts it",
    )
    studies: str = Field(
        "selection",
        description="what each revision is asked beside its experiment, with commas between: "
        "selection (which mitigation is chosen where), patch-cost (what each patch costs), "
        "variants (which revision costs least); "
        "empty: nothing",
    )
    bind: str = Field("127.0.0.1", description="address the service listens on")
    port: int = Field(8600, description="port the service listens on")
    allowed_hosts: str = Field(
        "",
        description="names, with commas between, under which the service is reached beside "
        "loopback and the address it listens on; name:port allows that port only",
    )
    anonymous_read: bool = Field(False, description="whether everybody may read without a token")
    proxy_secret_file: str = Field(
        "", description="file with the secret by which a proxy that names users is known"
    )
    proxy_roles: str = Field(
        "",
        description="roles by group of that proxy's users, as GROUP=ROLE with commas between; "
        "*=viewer lets everybody read whom it names; empty: it names each user's role itself",
    )
    proxy_groups_header: str = Field(
        "X-Mitigauge-Groups", description="the header by which that proxy names a user's groups"
    )
    metrics_key: str = Field(
        "",
        pattern=r"^([!-~]{16,})?$",
        description="the key by which /metrics answers, 16 characters or more; empty: nobody",
        repr=False,
    )
    log_format: Literal["text", "json"] = Field("text", description="form of the log's lines")
    log_level: Level = Field("info", description="the least of the service's own lines")
    log_levels: str = Field(
        "", description="levels of single loggers, as NAME=LEVEL with commas between"
    )
    body_limit_bytes: int = Field(1 << 20, ge=1, description="largest body of a request")
    body_timeout_s: float = Field(20.0, gt=0, description="time in which a body must have come")
    senders: str = Field(
        "", description="addresses, with commas between, whose signed series run unasked"
    )
    keyring: str = Field(
        "", description="directory of developers' public keys, as patatt lays them out"
    )
    trees: str = Field(
        "",
        description="git repositories that kernels are built from, as NAME=DIRECTORY with commas "
        "between; a base is then NAME@REVISION",
    )
    watch_series: bool = Field(
        False,
        description="whether workers look at archives for new revisions of watched series, and "
        "build and measure those that may run",
    )
    watch_interval_s: float = Field(60.0, ge=10, description="time between two looks at an archive")
    worker_name: str = Field(
        "", max_length=60, description="by what name a worker is known; empty: the machine's"
    )
    maildir: str = Field(
        "", description="Maildir to which mails to the service's own address are delivered"
    )
    public_url: str = Field(
        "", description="address of the dashboard as readers of mails reach it; empty: no links"
    )
    mail_server: str = Field("", description="SMTP server, host or host:port, for weekly reports")
    mail_encrypted: bool = Field(True, description="whether mails go by STARTTLS alone")
    mail_from: str = Field("", description="who sends weekly reports: Name <name@host>")
    weekly_to: str = Field(
        "", description="addresses, with commas between, that get each week's report unasked"
    )
    webhook_networks: str = Field(
        "",
        description="networks beside the public ones, as CIDR with commas between, to which "
        "webhooks may go, also by http and to any port",
    )
    kcidb_url: ServerAddress = Field(
        "",
        repr=False,
        description="where KCIDB takes submissions (…/submit); empty: nothing goes there",
    )
    kcidb_token: str = Field("", repr=False, description="what proves to KCIDB who submits")
    kcidb_origin: str = Field(
        "",
        description="by what name this service submits to KCIDB: small letters, digits and _",
    )
    patchwork_url: ServerAddress = Field(
        "",
        repr=False,
        description="patchwork's API, as https://patchwork.kernel.org/api/1.3; empty: no checks",
    )
    patchwork_token: str = Field("", repr=False, description="of the patchwork user who checks")
    github_api_url: ServerAddress = Field(
        "https://api.github.com", repr=False, description="GitHub's API"
    )
    github_repository: str = Field(
        "", description="OWNER/NAME whose commits get check runs; empty: none do"
    )
    github_token: str = Field("", repr=False, description="of the app that writes check runs")
    lab_port_base: int = Field(42200, description="SSH ports of the lab hosts start above this")
    lease_seconds: float = Field(90.0, description="time to live of a host lease")
    boot_timeout_s: float = Field(240.0, description="reboot to SSH banner, where a host sets none")
    archive_limit_bytes: int = Field(
        64 << 20, description="largest archive of a boot's job, as a host sends it"
    )
    job_files_limit_bytes: int = Field(
        64 << 20, description="largest sum of a job's unpacked files, captures as far as they fit"
    )
    capture_limit_bytes: int = Field(
        CAPTURE_BYTES, description="largest compressed capture of a profile that is read"
    )

    retention_events_days: int = Field(
        180, ge=0, description="accompanying lines of an experiment's log go after its end"
    )
    retention_events_per_experiment: int = Field(
        20_000, ge=0, description="such lines kept of an experiment that ended, the latest"
    )
    retention_attempts_days: int = Field(
        180, ge=0, description="attempts at a run's steps go after its end"
    )
    retention_blobs_days: float = Field(
        2, ge=0, description="raw files that nothing names go after; 0 only while no worker runs"
    )
    retention_scratch_days: float = Field(
        1, ge=0, description="scratch directories of dead processes go; 0 only as above"
    )
    retention_queue_days: float = Field(
        1, ge=0, description="jobs of the queue that nobody works on go after"
    )
    retention_log_bytes: int = Field(
        32 << 20, ge=0, description="a log file that is larger is cut to half of this"
    )

    backup_directory: str = Field(
        "", description="directory to which a worker takes backups; empty: none are taken"
    )
    backup_interval_hours: float = Field(24, gt=0, description="time between two backups")
    backup_keep_days: float = Field(
        14, ge=0, description="backups go after, less the latest of each of the last eight weeks"
    )

    @property
    def secrets(self) -> list[str]:
        """Values that nobody is to read, where they are set."""
        tokens = (
            self.metrics_key, self.database_password, password_of(self.database_url), self.token,
            self.kcidb_token, self.patchwork_token, self.github_token,
        )  # fmt: skip
        return [token for token in tokens if token]

    @property
    def allowed_senders(self) -> frozenset[str]:
        """The addresses of ``senders``, in small letters."""
        return frozenset(each.strip().lower() for each in self.senders.split(",") if each.strip())

    @property
    def source_trees(self) -> dict[str, Path]:
        """The repositories of ``trees`` by name. Raises InvalidInput for another form."""
        found = {}
        for each in filter(None, (part.strip() for part in self.trees.split(","))):
            name, sign, directory = each.partition("=")
            if not sign or not _TREE.fullmatch(name) or not directory.startswith("/"):
                raise InvalidInput(
                    f"MITIGAUGE_TREES has {each[:80]!r}",
                    hint="Write NAME=DIRECTORY, the directory from / on: mainline=/srv/linux.",
                )
            found[name] = Path(directory)
        return found

    @property
    def logger_levels(self) -> dict[str, Level]:
        """The levels of ``log_levels`` by logger. Raises InvalidInput for another form."""
        found: dict[str, Level] = {}
        for each in filter(None, (part.strip() for part in self.log_levels.split(","))):
            name, _, said = each.partition("=")
            level = next((known for known in get_args(Level) if known == said.lower()), None)
            if level is None or not _LOGGER.fullmatch(name):
                raise InvalidInput(
                    f"MITIGAUGE_LOG_LEVELS has {each[:80]!r}",
                    hint=f"Write NAME=LEVEL; levels: {', '.join(get_args(Level))}.",
                )
            found[name] = level
        return found

    @property
    def weekly_receivers(self) -> list[str]:
        """The addresses of ``weekly_to``, in order."""
        return [each.strip() for each in self.weekly_to.split(",") if each.strip()]

    @property
    def database_address(self) -> str:
        """``database_url`` with the password in it; empty where none is configured.

        Raises InvalidInput for a password without a URL, or beside one that has a password.
        """
        if not self.database_password:
            return self.database_url
        parts = _DATABASE.fullmatch(self.database_url)
        if parts is None:
            raise InvalidInput(
                "MITIGAUGE_DATABASE_PASSWORD is given, but MITIGAUGE_DATABASE_URL is empty, has "
                "a password too, or is no URL",
                hint="Give the URL without a password: postgresql://user@host/name.",
            )
        user, password = parts["user"] or "", quote(self.database_password, safe="")
        return f"{parts['scheme']}{user}:{password}@{parts['rest']}"

    @property
    def own_environments(self) -> Path:
        """Where the team's inventories are, and new ones are written."""
        if self.environments:
            return Path(self.environments)
        return REPOSITORY / "ansible" / "envs" if IS_CHECKOUT else self.home / "environments"

    @property
    def web_root(self) -> Path:
        """Built dashboard (``web/dist``)."""
        return REPOSITORY / "web" / "dist"

    @property
    def blobs(self) -> Path:
        """Directory of raw files, named by SHA-256, unless ``blobs_url`` says otherwise."""
        return self.home / "blobs"


def password_of(url: str) -> str:
    """The password in a URL; empty where there is none."""
    found = re.match(r"[^:/]+://[^:@/?#]*:([^@]*)@", url)
    return unquote(found[1]) if found else ""


@lru_cache
def get_settings() -> Settings:
    """The process's settings; ``get_settings.cache_clear()`` re-reads the environment."""
    return settings_from(os.environ)


def settings_from(environment: Mapping[str, str]) -> Settings:
    """The settings that *environment* names; every other has its default.

    Raises :class:`InvalidInput` for a value that a setting cannot have, and for a variable of
    our prefix that is no setting.
    """
    # pydantic-settings does the same and takes longer to load than `experiment list` to run.
    said = said_in(environment, Settings.model_fields)
    try:
        return Settings.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = PREFIX + "_".join(map(str, first["loc"])).upper()
        field = Settings.model_fields.get(str(first["loc"][0])) if first["loc"] else None
        # What is not for everybody's eyes is not quoted.
        value = f" is {first['input']!r}" if field is None or field.repr else ""
        raise InvalidInput(
            f"{name}{value}: {first['msg']}",
            hint="docs/operating.md and mitigauge/core/settings.py say what it may be.",
        ) from None
