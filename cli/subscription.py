"""`mitigauge subscription`: hear of what concerns you, by mail or webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.remote.routes import at
from cli.source import answer

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.reporting.subscriptions.schemas import NewSubscription, SubscriptionView

app = typer.Typer(no_args_is_help=True)

Number = Annotated[int, typer.Argument(min=1, max=2**31 - 1, help="Its number.")]
NONE_YET = (
    "Nothing. `mitigauge subscription add my-regressions --mail you@example.org` subscribes you."
)


@app.command("list")
def list_subscriptions(
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Also other people's; for admins.")
    ] = False,
    json: Json = False,
) -> None:
    """What you are told of, and how; why, where it is paused."""
    from mitigauge.reporting.subscriptions import service
    from mitigauge.reporting.subscriptions.schemas import SubscriptionView

    found = answer(
        lambda session: service.list_subscriptions(session, None if everybody else _myself()),
        lambda client: client.get(
            "/api/subscriptions", list[SubscriptionView], everybody=everybody or None
        ),
        reads=True,
    )
    if json:
        print_json(found)
        return
    print_table(
        ["id", "of", "to", "how", "state", "last told", "owner"],
        [_line(each) for each in found],
        empty="Nobody subscribed to anything." if everybody else NONE_YET,
    )
    for each in found:
        if each.why:
            say(f"{each.id}: {each.why}")


def _line(of: SubscriptionView) -> list[str]:
    told = f"{of.told_at:%Y-%m-%d %H:%M}" if of.told_at else ""
    return [
        str(of.id), f"{of.kind} {of.subject}".strip(), of.to,
        f"{of.way}, at once" if of.at_once else of.way, of.state, told, of.owner,
    ]  # fmt: skip


@app.command()
def add(
    kind: Annotated[
        str,
        typer.Argument(help="my-regressions, new-regressions, series, case, host or week."),
    ],
    subject: Annotated[
        str,
        typer.Argument(help="A series' name, WORKLOAD/CASE, or ENVIRONMENT/HOST."),
    ] = "",
    trend: Annotated[int | None, typer.Option(min=1, help="For a case: a trend of it.")] = None,
    mail: Annotated[str, typer.Option(help="A mail address to which it is sent.")] = "",
    webhook: Annotated[str, typer.Option(help="Or a https:// address to which it is.")] = "",
    # Of before: a chat's form is refused by name.
    template: Annotated[str, typer.Option(hidden=True)] = "json",
    at_once: Annotated[
        bool, typer.Option("--at-once", help="Within seconds, and not in a digest.")
    ] = False,
    json: Json = False,
) -> None:
    """Be told what happens from now on.

    Mails come in a digest a day, webhooks one in 15 minutes, unless `--at-once` is given. The
    secret by which a webhook's signature is checked is printed here, and nowhere else.
    """
    from mitigauge.core.settings import get_settings
    from mitigauge.reporting.subscriptions import service
    from mitigauge.reporting.subscriptions.schemas import AddedSubscription
    from mitigauge.reporting.subscriptions.webhook_url import read_networks

    new = _new(kind, subject, trend, mail, webhook, template, at_once=at_once)
    added = answer(
        lambda session: service.add(
            session, new, owner=_myself(), networks=read_networks(get_settings().webhook_networks)
        ),
        lambda client: client.post(
            "/api/subscriptions", AddedSubscription, new.model_dump(mode="json")
        ),
    )
    if json:
        print_json(added)
        return
    _print(added.subscription)
    if added.secret:
        say(f"secret, shown this once: {added.secret}")


def _new(
    kind: str, subject: str, trend: int | None, mail: str, webhook: str, template: str, *,
    at_once: bool,
) -> NewSubscription:  # fmt: skip
    from pydantic import ValidationError

    from mitigauge.core.errors import InvalidInput
    from mitigauge.reporting.subscriptions.schemas import NewSubscription
    from mitigauge.reporting.subscriptions.states import SubscriptionKind

    if bool(mail) == bool(webhook):
        raise InvalidInput(
            "it is told by mail or by webhook", hint="Give one of --mail and --webhook."
        )
    if kind not in list(SubscriptionKind):
        raise InvalidInput(
            f"there is no {kind[:80]!r}", hint=f"Give one of: {', '.join(SubscriptionKind)}."
        )
    values = {
        "kind": kind, "subject": subject, "trend_id": trend, "at_once": at_once,
        "way": "mail" if mail else "webhook", "address": mail or webhook, "template": template,
    }  # fmt: skip
    try:
        return NewSubscription.model_validate(values)
    except ValidationError as error:
        said = error.errors(include_url=False, include_input=False)[0]
        raise InvalidInput(": ".join([*map(str, said["loc"][:1]), said["msg"]])) from None


def _print(view: SubscriptionView) -> None:
    say(f"subscription {view.id}: {view.kind} {view.subject}".rstrip() + f", to {view.to}")
    say(f"{view.state}{f': {view.why}' if view.why else ''}")


@app.command()
def pause(subscription: Number, json: Json = False) -> None:
    """Be told nothing for a while; what happens meanwhile is not told later."""
    _act(subscription, "pause", json)


@app.command()
def resume(subscription: Number, json: Json = False) -> None:
    """Be told again, from now on."""
    _act(subscription, "resume", json)


@app.command()
def remove(subscription: Number, json: Json = False) -> None:
    """End a subscription; an admin may end everybody's."""
    _act(subscription, "remove", json)


def _act(number: int, what: str, json: bool) -> None:
    from mitigauge.reporting.subscriptions import service
    from mitigauge.reporting.subscriptions.schemas import SubscriptionView

    do = {"pause": service.pause, "resume": service.resume, "remove": service.remove}[what]
    view = answer(
        # Whoever has the service's machine tends all of it.
        lambda session: do(session, number, by=_myself(), tends=True),
        lambda client: client.post(
            at(f"/api/subscriptions/{{}}/{what}", number), SubscriptionView
        ),
    )  # fmt: skip
    if json:
        print_json(view)
        return
    if what == "remove":
        say(f"subscription {view.id} is removed")
        return
    _print(view)


def _myself() -> str:
    """Who types, as the audit log names them."""
    from mitigauge.access.roles import OPERATOR
    from mitigauge.core.actor import current_actor

    return current_actor().name or OPERATOR
