"""`mitigauge limits`: what no figure may pass, set once and said of every experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.experiment_limits import end_by, print_outcome, read_limits_file
from cli.experiment_name import Id
from cli.output import Json, echo, print_json, print_table, say
from cli.remote.routes import at
from cli.source import answer

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from cli.remote.client import Client
    from mitigauge.analysis.verdicts.limit_schemas import LimitFileView

app = typer.Typer(no_args_is_help=True)

Named = Annotated[str, typer.Argument(metavar="NAME", help="The name in the file: `limits: NAME`.")]
NONE_YET = "No limits are in force. `mitigauge limits set limits.yml` puts a file in force."


@app.command("set")
def set_limits(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The limits, YAML.")],
    json: Json = False,
) -> None:
    """Put a file of limits in force, in the place of the one of its name.

    Each experiment that ends from now on is judged by it: its page, the revision of a series and
    the weekly report say what is broken. One that ended before is judged by `limits judge`.
    The file has the form of `experiment limits --file`, for example:

    \b
    limits: ours
    lines:
    - {workload: exits, metric: time_per_exit, host_class: EPYC, at_most: 6200}
    - {workload: syscall, metric: time_per_call, worse_by_percent: 1, than: before}

    Example: mitigauge limits set limits.yml
    """
    from mitigauge.analysis.verdicts import limit_service
    from mitigauge.analysis.verdicts.limit_schemas import LimitFileView
    from mitigauge.analysis.verdicts.limit_text import read_limits
    from mitigauge.core.documents.parts import counted

    text = read_limits_file(file)

    def here(session: Session) -> LimitFileView:
        return limit_service.set_limits(session, text, name=str(file), by=_myself())

    def there(client: Client) -> LimitFileView:
        name = read_limits(text, str(file)).limits
        return client.put(at("/api/limits/{}", name), LimitFileView, text)

    view = answer(here, there)
    if json:
        print_json(view)
        return
    limits = counted(view.lines, "limit")
    say(f"{view.name}: {limits}, in force for every experiment that ends from now on")


@app.command("list")
def list_limits(json: Json = False) -> None:
    """The files of limits that are in force.

    Example: mitigauge limits list --json
    """
    from mitigauge.analysis.verdicts import limit_service
    from mitigauge.analysis.verdicts.limit_schemas import LimitFileHead

    found = answer(
        limit_service.list_limits,
        lambda client: client.get("/api/limits", list[LimitFileHead]),
        reads=True,
    )
    if json:
        print_json(found)
        return
    print_table(
        ["name", "limits", "set by", "since"],
        [[each.name, str(each.lines), each.set_by, f"{each.set_at:%Y-%m-%d %H:%M}"]
         for each in found],
        empty=NONE_YET,
    )  # fmt: skip


@app.command()
def show(name: Named, json: Json = False) -> None:
    """A file of limits as it was given; what is printed can be changed and set again.

    Example: mitigauge limits show ours > limits.yml
    """
    from mitigauge.analysis.verdicts import limit_service
    from mitigauge.analysis.verdicts.limit_schemas import LimitFileView

    view = answer(
        lambda session: limit_service.show_limits(session, name),
        lambda client: client.get(at("/api/limits/{}", name), LimitFileView),
        reads=True,
    )
    if json:
        print_json(view)
    else:
        echo(view.text.rstrip("\n"))


@app.command()
def remove(name: Named, json: Json = False) -> None:
    """End a file of limits. What was said by it of experiments stays.

    Example: mitigauge limits remove ours
    """
    from mitigauge.analysis.verdicts import limit_service
    from mitigauge.analysis.verdicts.limit_schemas import LimitFileView

    view = answer(
        lambda session: limit_service.remove_limits(session, name),
        lambda client: client.delete(at("/api/limits/{}", name), LimitFileView),
    )
    if json:
        print_json(view)
    else:
        say(f"{view.name}: no longer in force")


@app.command()
def judge(experiment_id: Id, json: Json = False) -> None:
    """Judge an experiment that is over by the limits in force now, and store what they say.

    Ends as `experiment limits`: 0 where all are kept, 3 where one is broken, 4 where one cannot
    be told or none is of it.

    Example: mitigauge limits judge 12
    """
    from mitigauge.analysis.verdicts import limit_service
    from mitigauge.analysis.verdicts.limit_schemas import ExperimentLimits

    found = answer(
        lambda session: limit_service.judge_anew(session, experiment_id),
        lambda client: client.post(
            at("/api/experiments/{}/limits/anew", experiment_id), ExperimentLimits
        ),
    )
    if json:
        print_json(found)
    else:
        print_outcome(found)
    end_by(found.counts.worst)


def _myself() -> str:
    """Who types, as the audit log names them."""
    from mitigauge.access.roles import OPERATOR
    from mitigauge.core.actor import current_actor

    return current_actor().name or OPERATOR
