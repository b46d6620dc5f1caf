"""Lines of the log: their two forms, their levels, whose they are, and no secret among them."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from mitigauge.core.actor import Actor, Way, acting
from mitigauge.core.errors import InvalidInput
from mitigauge.core.logs.handler import ProcessHandler, log_for_command
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.logs.redaction import HIDDEN, without_secrets, worth_hiding
from mitigauge.core.logs.setup import configure_logs
from mitigauge.core.settings import Settings, password_of, settings_from

SECRET = "hunter2-hunter2-hunter2"
TOKEN = "mgt_" + 43 * "s"


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    names = ("", "mitigauge", "api", "cli", "pipelines", "lab", "procrastinate")
    levels = {name: logging.getLogger(name).level for name in names}
    yield
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, ProcessHandler)]:
        root.removeHandler(handler)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def logs(**values: object) -> io.StringIO:
    stream = io.StringIO()
    configure_logs(Settings.model_validate(values), stream)
    return stream


def test_a_line_of_text_has_time_level_logger_message_and_values() -> None:
    stream = logs()
    get_logger("pipelines.worker").warning("not noted", job=12, error='it\'s "away" now', none=None)
    [line] = stream.getvalue().splitlines()
    at, rest = line.split(" ", 1)
    assert at.endswith("Z")
    assert rest == (
        'WARNING pipelines.worker: not noted job=12 error="it\'s \\"away\\" now" none=None'
    )


def test_a_line_of_json_is_one_object_whose_head_no_value_takes() -> None:
    stream = logs(log_format="json")
    get_logger("api.access").info("request", level="x", at="y", status=200, ms=0.5, text="a\nb\x1b")
    said = json.loads(stream.getvalue())
    assert (said["level"], said["logger"], said["message"]) == ("info", "api.access", "request")
    assert (said["status"], said["ms"], said["text"]) == (200, 0.5, "a\nb\N{REPLACEMENT CHARACTER}")
    assert said["at"].endswith("Z")


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_message_or_value_makes_a_line_of_its_own(form: str) -> None:
    stream = logs(log_format=form)
    get_logger("api").warning("a\nINFO forged\r\x1b[2J", name="b\nc")
    logging.getLogger("somebody").warning("d\ne %s", "f\ng")
    assert len(stream.getvalue().splitlines()) == 2
    assert "\x1b" not in stream.getvalue()


def test_lines_of_a_request_or_job_say_whose_they_are() -> None:
    stream = logs(log_format="json")
    with acting(Actor("ann", Way.API, "10.0.0.7", "r1")):
        logging.getLogger("api.guard").warning("one")
    with acting(Actor("w1", Way.WORKER, "m", job="job 12")):
        get_logger("pipelines").info("two", job=12)
    get_logger("pipelines").info("three")
    one, two, three = map(json.loads, stream.getvalue().splitlines())
    assert (one["request"], "job" in one) == ("r1", False)
    assert (two["job"], "request" in two) == ("job 12", False)
    assert not {"job", "request"} & set(three)


def test_levels_are_of_our_lines_and_of_single_loggers() -> None:
    stream = logs(log_level="warning", log_levels="pipelines.lease=debug, procrastinate=info")
    for name in ("pipelines", "pipelines.lease", "procrastinate.worker", "httpx2"):
        get_logger(name).info(name)
        get_logger(name).debug(f"{name} debug")
    said = [line.split(": ")[1] for line in stream.getvalue().splitlines()]
    assert said == ["pipelines.lease", "pipelines.lease debug", "procrastinate.worker"]


@pytest.mark.parametrize("levels", ["a", "a=loud", "=info", "a b=info", "a=info;b=info"])
def test_levels_that_cannot_be_read_are_refused_by_name(levels: str) -> None:
    with pytest.raises(InvalidInput, match="MITIGAUGE_LOG_LEVELS has"):
        logs(log_levels=levels)


def test_a_traceback_stands_behind_its_line_without_secrets_and_local_values() -> None:
    stream = logs(metrics_key=SECRET)
    local_only = "value-of-a-variable"
    try:
        raise ValueError(f"cannot use {SECRET} for {len(local_only)}")
    except ValueError:
        get_logger("mitigauge").exception("failed", run=7)
    first, *trace = stream.getvalue().splitlines()
    assert first.endswith("ERROR mitigauge: failed run=7")
    assert trace[0] == "Traceback (most recent call last):"
    assert trace[-1] == f"ValueError: cannot use {HIDDEN} for 19"
    assert SECRET not in stream.getvalue()
    assert local_only not in stream.getvalue()


@pytest.mark.parametrize("form", ["text", "json"])
def test_values_of_secret_settings_are_in_no_line(
    form: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", f"aws-{SECRET}")
    file = tmp_path / "proxy"  # type: ignore[operator]
    file.write_text(f"proxy-{SECRET}\n")
    stream = logs(
        log_format=form, metrics_key=f"metrics-{SECRET}", proxy_secret_file=str(file),
        database_url=f"postgresql://u:url-{SECRET}@h/n", database_password=f"db-{SECRET}",
    )  # fmt: skip
    for kind in ("aws", "proxy", "metrics", "url", "db"):
        get_logger("api").warning(
            f"m {kind}-{SECRET}", value=[f"{kind}-{SECRET}"], n={kind: SECRET}
        )
        logging.getLogger("lib").error("%s", f"{kind}-{SECRET}")
    for kind in ("aws", "proxy", "metrics", "url", "db"):
        assert f"{kind}-{SECRET}" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 10


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"token {TOKEN}.", f"token {HIDDEN}."),
        (f"Authorization: Bearer {TOKEN}", f"Authorization: Bearer {HIDDEN}"),
        ("bearer abcdefghijk", f"bearer {HIDDEN}"),
        ("Authorization: Token 0123456789abcdef", f"Authorization: Token {HIDDEN}"),
        ('{"Authorization": "Token 0123456789abcdef"}', f'{{"Authorization": "Token {HIDDEN}"}}'),
        ("Authorization=Token%200123456789abcdef", f"Authorization=Token%20{HIDDEN}"),
        ("PRIVATE-TOKEN: 0123456789abcdef", f"PRIVATE-TOKEN: {HIDDEN}"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.abcdef ends", f"{HIDDEN} ends"),
        ("xoxb-123456789-abcdefgh AKIAABCDEFGHIJKLMNOP", f"{HIDDEN} {HIDDEN}"),
        ("the token authentication failed; token expired", None),
        ("authorization=Digest x, y", f"authorization=Digest {HIDDEN}, y"),
        ("got ghp_0123456789abcdef.", f"got {HIDDEN}."),
        ("github_pat_11AB_0123456789", HIDDEN),
        ("`mitigauge token create` and a token of somebody's", None),
        ("postgresql+psycopg://u:p@ss@h:1/n?x=1", f"postgresql+psycopg://u:{HIDDEN}@h:1/n?x=1"),
        ("host=h password=x dbname=n", f"host=h password={HIDDEN} dbname=n"),
        ("password='a b' c", f"password={HIDDEN} c"),
        ("https://example.org/a:b mgt_ the bearer of news", None),
        ("at 12:30 see http://h:8600/x", None),
    ],
)
def test_what_looks_like_a_secret_is_taken_out_and_nothing_else(
    said: str, left: str | None
) -> None:
    assert without_secrets(said) == (said if left is None else left)


def test_short_values_are_not_looked_for() -> None:
    assert worth_hiding(["", "info", "abcdef", "abcdefgh"]) == ("abcdefgh", "abcdef")


def test_the_password_of_an_address_is_found() -> None:
    assert password_of("postgresql://u:a%40b@h/n") == "a@b"
    assert password_of("postgresql://u@h/n") == password_of("") == ""


def test_a_commands_log_is_its_stderr_and_says_what_goes_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_for_command()
    log_for_command()
    get_logger("mitigauge.tracking.trends").info("unseen")
    get_logger("mitigauge.tracking.trends").warning("seen once", token=TOKEN)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("seen once") == 1
    assert "unseen" not in err
    assert TOKEN not in err
    assert sys.stderr is not sys.stdout


@pytest.mark.parametrize("value", ["short 1", "geheim"])
def test_a_secret_setting_that_cannot_be_is_named_and_not_quoted(value: str) -> None:
    with pytest.raises(InvalidInput, match=r"^MITIGAUGE_METRICS_KEY: ") as refused:
        settings_from({"MITIGAUGE_METRICS_KEY": value})
    assert value not in str(refused.value) + refused.value.hint
    with pytest.raises(InvalidInput, match="MITIGAUGE_PORT is 'geheim'"):
        settings_from({"MITIGAUGE_PORT": "geheim"})


def test_a_settings_secrets_are_not_in_its_representation() -> None:
    url = f"postgresql://u:{SECRET}@h/n"
    settings = Settings(database_url=url, metrics_key=SECRET, database_password=SECRET)
    assert SECRET not in repr(settings)
