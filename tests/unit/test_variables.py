"""Settings by variable and by file; names that nothing reads are refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict
from ruamel.yaml import YAML
from sqlalchemy import make_url

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY, Settings, settings_from
from mitigauge.core.variables import GONE, IN_FILE, OTHERS, PREFIX
from mitigauge.storage.database.direct import plain
from mitigauge.storage.database.engine import database_url

URL = "postgresql://mitigauge@database/mitigauge"
PASSWORDS = ["plain", "p@ss:w/rd#%?&=+", "a b", "%41", "é😀", "'\"\\$`", "x\ty", "[::1]", "@", ":"]

VALUES = {
    "<class 'int'>": "7",
    "<class 'float'>": "17.5",
    "<class 'bool'>": "true",
    "typing.Literal['text', 'json']": "json",
    "typing.Literal['debug', 'info', 'warning', 'error']": "debug",
}


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_may_stand_in_a_file(name: str, tmp_path: Path) -> None:
    field = Settings.model_fields[name]
    value = (
        "false"
        if field.default is True
        else VALUES.get(str(field.annotation), "a-value-of-some-length")
    )
    file = tmp_path / "value"
    file.write_text(f"{value}\n")
    by_file = settings_from({f"{PREFIX}{name.upper()}_FILE": str(file)})
    assert by_file == settings_from({f"{PREFIX}{name.upper()}": value}) != settings_from({})


@pytest.mark.parametrize("name", ["KCIDB_URL", "PATCHWORK_URL", "GITHUB_API_URL"])
@pytest.mark.parametrize(
    "address",
    ["https://s3cret-token@db.example.org/submit", "https://me:s3cret@example.org/api",
     "https://example.org/submit?token=s3cret", "https://example.org/#s3cret"],
)  # fmt: skip
def test_an_address_that_lets_somebody_in_is_refused_and_not_repeated(
    name: str, address: str
) -> None:
    with pytest.raises(InvalidInput, match=f"MITIGAUGE_{name}: .*_TOKEN") as refused:
        settings_from({f"MITIGAUGE_{name}": address})
    assert "s3cret" not in str(refused.value)
    settings_from({f"MITIGAUGE_{name}": "https://example.org:8443/api/1.3"})


def test_every_value_that_is_not_shown_is_kept_out_of_the_log() -> None:
    hidden = [
        name for name, field in Settings.model_fields.items()
        if not field.repr and not name.endswith("_url")
    ]  # fmt: skip
    given = {f"MITIGAUGE_{name.upper()}": f"a-long-{name}-value" for name in hidden}
    given["MITIGAUGE_DATABASE_URL"] = URL
    assert set(settings_from(given).secrets) >= {f"a-long-{name}-value" for name in hidden}


def test_of_a_file_one_line_break_at_its_end_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    for content, value in (("a", "a"), ("a\n", "a"), ("a\n\n", "a\n"), (" a ", " a "), ("", "")):
        file.write_text(content)
        found = settings_from({"MITIGAUGE_DATABASE_PASSWORD_FILE": str(file)})
        assert found.database_password == value


def test_a_setting_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("hunter2")
    both = {"MITIGAUGE_DATABASE_PASSWORD": "hunter3", "MITIGAUGE_DATABASE_PASSWORD_FILE": str(file)}
    with pytest.raises(InvalidInput, match="both MITIGAUGE_DATABASE_PASSWORD and") as refused:
        settings_from(both)
    assert "hunter" not in str(refused.value)
    # What is empty is not given: a compose file passes it on so.
    assert settings_from(both | {"MITIGAUGE_DATABASE_PASSWORD": ""}).database_password == "hunter2"
    empty = both | {"MITIGAUGE_DATABASE_PASSWORD_FILE": ""}
    assert settings_from(empty).database_password == "hunter3"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file"),
        (b"\xff\xfe", "no UTF-8 text"),
        (b"a\0b", "has a NUL"),
        (b"a" * 70_000, "more than 64 KiB"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_setting(
    content: bytes | None, why: str, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInput, match=why) as refused:
        settings_from({"MITIGAUGE_MAIL_SERVER_FILE": str(file)})
    assert f"MITIGAUGE_MAIL_SERVER_FILE, {file}," in refused.value.message
    with pytest.raises(InvalidInput, match="Is a directory"):
        settings_from({"MITIGAUGE_MAIL_SERVER_FILE": str(tmp_path)})


def test_a_setting_that_is_a_path_to_a_file_stays_one(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("x" * 40)
    named = settings_from({"MITIGAUGE_PROXY_SECRET_FILE": str(file)})
    assert named.proxy_secret_file == str(file)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MITIGAUGE_DATABASE_URI", "MITIGAUGE_DATABASE_URL"),
        ("MITIGAUGE_ALOWED_HOSTS", "MITIGAUGE_ALLOWED_HOSTS"),
        ("MITIGAUGE_DATABASE_PASSWORD_FLE", "MITIGAUGE_DATABASE_PASSWORD_FILE"),
        ("MITIGAUGE_port", ""),
        ("MITIGAUGE_", ""),
    ],
)
def test_a_name_that_nothing_reads_is_refused_with_the_nearest(name: str, meant: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        settings_from({name: "hunter2"})
    assert refused.value.message == f"there is no setting {name}"
    assert (f"Is {meant} meant?" in refused.value.hint) == bool(meant)
    assert "hunter2" not in str(refused.value)


def test_names_that_others_read_are_no_mistakes() -> None:
    assert settings_from({PREFIX + name: "x" for name in OTHERS}) == Settings()
    assert not {name.lower() for name in OTHERS} & {*Settings.model_fields}


# In tests of refusals, and where a page or a pattern stands for many names.
MADE_UP = {
    *("DATABASE_UR", "DATABASE_URI", "ALOWED_HOSTS", "DATABASE_PASSWORD_FLE"),
    *("NAME", "NAME_FILE", "RETENTION"),
}


def test_every_name_that_the_project_uses_is_known() -> None:
    """A name that something reads and the list lacks would stop the service where it is set."""
    if not (REPOSITORY / ".git").exists():
        pytest.skip("needs a checkout")
    found = subprocess.run(
        ["git", "-C", REPOSITORY, "grep", "-hoE", r"\bMITIGAUGE_[A-Z][A-Z0-9_]*[A-Z0-9]"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    named = {name.removeprefix(PREFIX) for name in found.stdout.split()}
    named = {name for name in named if not f"{name}_".startswith(tuple(GONE))}
    settings = {name.upper() for name in Settings.model_fields}
    known = settings | {name + IN_FILE for name in settings} | {*OTHERS} | MADE_UP
    assert named - known == set()


@pytest.mark.parametrize("name", OTHERS)
def test_each_other_name_is_read_where_the_list_says(name: str) -> None:
    place = REPOSITORY / OTHERS[name].split(":")[0]
    files = [place] if place.is_file() else [f for f in place.rglob("*") if f.is_file()]
    assert any(PREFIX + name in file.read_text("utf-8", errors="ignore") for file in files)


@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_of_any_characters_reaches_the_database(password: str) -> None:
    said = {"MITIGAUGE_DATABASE_URL": URL, "MITIGAUGE_DATABASE_PASSWORD": password}
    settings = settings_from(said)
    # The three ways it goes: by the driver, by SQLAlchemy, and from there to the queue's driver.
    assert conninfo_to_dict(settings.database_address)["password"] == password
    assert make_url(database_url(settings)).password == password
    queue = conninfo_to_dict(plain(database_url(settings)))
    assert queue == {
        "user": "mitigauge", "host": "database", "dbname": "mitigauge", "password": password,
    }  # fmt: skip
    assert "database_password" not in repr(settings)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://host/name", {"host": "host", "dbname": "name"}),
        ("postgres://u@[::1]:5433/n", {"user": "u", "host": "::1", "port": "5433", "dbname": "n"}),
        ("postgresql://u@/n?host=%2Frun%2Fpg", {"user": "u", "host": "/run/pg", "dbname": "n"}),
        (
            "postgresql+psycopg://u@h/n?sslmode=verify-full",
            {"user": "u", "host": "h", "dbname": "n", "sslmode": "verify-full"},
        ),
    ],
)
def test_a_password_goes_into_every_form_of_url(url: str, expected: dict[str, str]) -> None:
    said = {"MITIGAUGE_DATABASE_URL": url, "MITIGAUGE_DATABASE_PASSWORD": "a@b"}
    address = plain(settings_from(said).database_address)
    assert conninfo_to_dict(address) == {**expected, "password": "a@b"}


@pytest.mark.parametrize("url", ["", "postgresql://u:pw@h/n", "h/n", "postgresql://u:@h/n"])
def test_a_password_that_has_no_place_is_refused(url: str) -> None:
    said = {"MITIGAUGE_DATABASE_URL": url, "MITIGAUGE_DATABASE_PASSWORD": "hunter2"}
    with pytest.raises(InvalidInput, match="MITIGAUGE_DATABASE_PASSWORD is given, but") as refused:
        _ = settings_from(said).database_address
    assert "hunter2" not in str(refused.value)
    assert "pw" not in refused.value.message.replace("MITIGAUGE_DATABASE_PASSWORD", "")


@pytest.mark.parametrize("password", PASSWORDS)
def test_the_compose_file_hands_on_any_password(password: str, tmp_path: Path) -> None:
    compose = YAML(typ="safe").load((REPOSITORY / "docker-compose.yml").read_text())
    file = tmp_path / "password"
    file.write_text(f"{password}\n")
    ours = [one for name, one in compose["services"].items() if name != "database"]
    assert len(ours) == 5
    for service in (compose["services"]["database"], *ours):
        assert "database_password" in service["secrets"]
    for service in ours:
        given = {name: substituted(value) for name, value in service["environment"].items()}
        assert given["MITIGAUGE_DATABASE_PASSWORD_FILE"] == "/run/secrets/database_password"
        given |= {
            "MITIGAUGE_DATABASE_PASSWORD_FILE": str(file),
            "MITIGAUGE_METRICS_KEY_FILE": "",
        }
        settings = settings_from({n: value for n, value in given.items() if "MITIGAUGE" in n})
        assert conninfo_to_dict(settings.database_address)["password"] == password


def substituted(value: str) -> str:
    """A value of the compose file where no variable is set."""
    return re.sub(r"\$\{(\w+):-([^}]*)\}", r"\2", value)
