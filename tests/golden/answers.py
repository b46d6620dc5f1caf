"""Every page, file, mail and command's output that a database gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Engine, text
from typer.testing import CliRunner

from api.app import create_app
from cli.main import build
from tests.clients import bearer, client_of, token_of

# Whose token reads; it is deleted afterwards.
READER = "reader-of-golden-answers"
# The kinds of an experiment's tables, written out: what goes from the code is noticed here.
KINDS = ("matrix", "factorial", "loss", "counters", "threads", "details", "functions",
         "instructions", "revision-line")  # fmt: skip
FORMS = ("text", "markdown", "csv")
TEXTS = ("text/", "application/json", "message/")
# What differs from one making to the next: times of storing, random ids.
VARYING = [
    (re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d| UTC)?"), "TIME"),
    (re.compile(r"\b(\w{3}, )?\d\d? \w{3} 20\d\d \d\d:\d\d:\d\d [+-]\d{4}"), "TIME"),
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b"), "TIME"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"==\d=[0-9a-f]{24}=="), "BOUNDARY"),
    (re.compile(r"(<|cid:)[\w.-]+\.[0-9a-f]{12,24}@"), "<MESSAGE@"),
    (re.compile(r'"seconds": ?\d+\.\d{4,}'), "SECONDS"),
    (re.compile(r"\b(\d+ (s|seconds?|minutes?|hours?|days?) ago|just now)\b"), "AGO"),
]  # fmt: skip


def answers(engine: Engine) -> Iterator[tuple[str, bytes]]:
    """Name and content of each answer."""
    headers = bearer(token_of(engine, "admin", READER))
    with client_of(create_app(engine), headers) as client:
        for path in paths(engine):
            answer = client.get(path)
            content = answer.content
            if answer.headers.get("content-type", "").startswith(TEXTS):
                content = settled(content)
            yield f"GET {path}", f"{answer.status_code}\n".encode() + content
    with engine.begin() as connection:
        connection.execute(text("delete from access_token where name = :name"), {"name": READER})
    for words in commands(engine):
        done = CliRunner().invoke(build(), words, env={"COLUMNS": "200", "NO_COLOR": "1"})
        shown = f"{done.exit_code} {done.exception or ''}\n{done.stdout}"
        yield f"mitigauge {' '.join(words)}", settled(shown.encode())


def settled(content: bytes) -> bytes:
    """*content* without what differs from one making to the next."""
    told = content.decode(errors="surrogateescape")
    for pattern, word in VARYING:
        told = pattern.sub(word, told)
    return told.encode(errors="surrogateescape")


def paths(engine: Engine) -> Iterator[str]:
    """Every address of the API that reads."""
    yield from (f"/api/{word}" for word in ("experiments", "hosts", "queue", "series"))
    yield from (f"/api/{word}" for word in ("bisections", "trends", "weekly"))
    yield from ("/api/trends/classes", "/api/openapi.json")
    yield from (
        f"/api/{word}" for word in ("regressions", "kernels", "jobs", "home", "error-rates")
    )
    yield from (f"/api/{word}" for word in ("prices", "prices.csv", "prices/tables", "requests"))
    yield from ("/api/subscriptions", "/api/experiments/choices", "/api/search?text=syscall")
    for number in _column(engine, "select id from regression order by id"):
        yield f"/api/regressions/{number}"
    for experiment in _column(engine, "select id from experiment order by id"):
        yield from _of_experiment(engine, experiment)
    for boot in _column(engine, "select id from boot order by id limit 6"):
        yield f"/api/boots/{boot}"
    for host in _column(engine, "select name from host order by name"):
        yield f"/api/hosts/{host}"
    for name in _column(engine, "select name from series order by name"):
        yield from (f"/api/series/{name}", f"/api/series/{name}/line")
    for number in _column(engine, "select id from bisection order by id"):
        yield f"/api/bisections/{number}"
    for number in _column(engine, "select id from trend order by id"):
        yield f"/api/trends/{number}"
    for week in weeks(engine):
        yield f"/api/weekly/{week}"
        for form in ("text", "markdown", "html", "json", "mail"):
            yield f"/api/weekly/{week}/report?format={form}"


def weeks(engine: Engine) -> list[str]:
    """Weeks that have a report: ``2026-W48``."""
    days = _column(engine, "select distinct week from weekly_report order by 1")
    return [str(day) if isinstance(day, str) else f"{day:%G-W%V}" for day in days]


def _of_experiment(engine: Engine, experiment: int) -> Iterator[str]:
    base = f"/api/experiments/{experiment}"
    yield base
    for kind in KINDS:
        yield from (f"{base}/tables/{kind}.{suffix}" for suffix in ("txt", "md", "csv", "json"))
    yield from (f"{base}/{name}" for name in ("whole", "undecided", "publications", "limits"))
    for name in ("matrix", "progress", "log", "consequences", "claims", "matrix.json"):
        yield f"{base}/{name}"
    yield from (f"{base}/matrix.csv", f"{base}/iterations.csv")
    for name in ("loss", "counters", "threads"):
        yield f"{base}/{name}"
        yield from (f"{base}/{name}/report?format={form}" for form in FORMS)
    yield from (f"{base}/report?format={form}" for form in ("text", "markdown"))
    yield f"{base}/threads/report?seconds=2&format=text"
    for case, host in cases(engine, experiment):
        of = f"{base}/cases/{case}"
        yield from (f"{of}{rest}?host={host}" for rest in ("", "/collected", "/details"))
        yield from (f"{of}/details/report?host={host}&format={form}" for form in FORMS)
        asked = f"experiment={experiment}&case={case}&host={host}"
        yield from (f"/api/profiles/{name}?{asked}" for name in ("case", "functions"))
        yield f"/api/profiles/groups?experiment={experiment}&case={case}"
        arms = _column(
            engine,
            "select a.name from arm a join benchmark_case c on c.comparison_id = a.comparison_id "
            "where c.id = :case order by a.position",
            case=case,
        )
        for arm in arms[1:]:
            sides = f"{asked}&a={arms[0]}&b={arm}"
            yield from (f"/api/profiles/{name}?{sides}" for name in ("diff", "instructions"))


def cases(engine: Engine, experiment: int) -> list[tuple[int, str]]:
    """Cases of an experiment with each host that runs them."""
    with engine.connect() as connection:
        rows = connection.execute(
            text("""select c.id, h.name from benchmark_case c
                join run r on r.comparison_id = c.comparison_id join host h on h.id = r.host_id
                where r.experiment_id = :e order by 1, 2"""),
            {"e": experiment},
        )
        return [(row[0], row[1]) for row in rows]


def commands(engine: Engine) -> Iterator[list[str]]:
    """Every command that shows or writes, with the names that are there."""
    for noun in ("experiment", "series", "bisect", "trends", "host", "kernel"):
        yield from ([noun, "list"], [noun, "list", "--json"])
    yield from (["host", "queue"], ["series", "requests"])
    for number in map(str, _column(engine, "select id from experiment order by id")):
        yield from (["experiment", "show", number], ["claims", "show", number])
        for form in ("text", "markdown", "json"):
            yield ["experiment", "report", number, "--format", form]
        for table in ("loss", "counters", "threads"):
            for form in (*FORMS, "json"):
                yield ["experiment", table, number, "--format", form]
        for kind in KINDS:
            yield ["experiment", "table", number, kind]
        for case, host in cases(engine, int(number)):
            for form in FORMS:
                yield ["experiment", "details", number, "--case", str(case), "--host", host,
                       "--format", form]  # fmt: skip
    yield from _of_nouns(engine)


def _of_nouns(engine: Engine) -> Iterator[list[str]]:
    for host in _column(engine, "select name from host order by name"):
        yield ["host", "show", host]
    for name in _column(engine, "select name from series order by name"):
        yield ["series", "show", name]
        for number in _column(
            engine,
            "select distinct r.number from series_revision r join series s on s.id = r.series_id "
            "where s.name = :name order by 1",
            name=name,
        ):
            label = f"v{number}"
            yield from (["series", "show", name, label], ["report", "reply", name, label])
    for number in map(str, _column(engine, "select id from bisection order by id")):
        yield from (["bisect", "show", number], ["bisect", "report", number])
    for number in map(str, _column(engine, "select id from trend order by id")):
        yield ["trends", "show", number]
    for week in weeks(engine):
        for form in ("text", "markdown", "html"):
            yield ["report", "weekly", "--week", week, "--format", form]


def _column(engine: Engine, query: str, **values: Any) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(text(query), values).scalars())
