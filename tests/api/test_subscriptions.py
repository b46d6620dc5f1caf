"""Subscriptions over HTTP: one's own, everybody's for an admin, and the secret once."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from tests.clients import bearer, token_of

URL = "https://hooks.example.org/services/T0/abcdefgh1234"
HOOK = {"kind": "new-regressions", "way": "webhook", "address": URL}
PATH = "/api/subscriptions"


class Asking:
    """A person with a token."""

    def __init__(self, client: TestClient, engine: Engine, role: str, name: str) -> None:
        self.client, self.headers = client, bearer(token_of(engine, role, name))

    def get(self, path: str = PATH, code: int = 200) -> Any:
        answer = self.client.get(path, headers=self.headers)
        assert answer.status_code == code, answer.text
        return answer.json()

    def post(self, path: str, code: int, **body: Any) -> Any:
        answer = self.client.post(path, headers=self.headers, json=body)
        assert answer.status_code == code, answer.text
        return answer.json()


@pytest.fixture
def people(stranger: TestClient, engine: Engine) -> dict[str, Asking]:
    roles = {"ann": "submitter", "bob": "approver", "root": "admin", "vic": "viewer"}
    return {name: Asking(stranger, engine, role, name) for name, role in roles.items()}


def test_ones_own_are_added_listed_paused_resumed_and_removed(people: dict[str, Asking]) -> None:
    ann = people["ann"]
    added = ann.post(PATH, 201, **HOOK)
    number = added["subscription"]["id"]
    assert added["secret"].startswith("whsec_")
    assert len(b64decode(added["secret"].removeprefix("whsec_"))) == 32
    [shown] = ann.get()
    assert shown == added["subscription"]
    assert (shown["owner"], shown["to"]) == ("ann", "https://hooks.example.org/…1234")
    assert ann.post(f"{PATH}/{number}/pause", 200)["state"] == "paused"
    assert ann.get()[0]["why"] == "paused by ann"
    ann.post(f"{PATH}/{number}/pause", 409)
    assert ann.post(f"{PATH}/{number}/resume", 200)["state"] == "active"
    ann.post(f"{PATH}/{number}/resume", 409)
    assert ann.post(f"{PATH}/{number}/remove", 200)["id"] == number
    assert ann.get() == []


def test_a_chat_is_refused_by_name_and_what_clients_of_before_send_is_taken(
    people: dict[str, Asking],
) -> None:
    for chat in ("slack", "mattermost", "matrix", 7):
        said = people["ann"].post(PATH, 422, **HOOK, template=chat)["message"]
        assert f"messages in the form of {chat!r} are no longer made" in said
        assert "a webhook gets JSON" in said
    people["ann"].post(PATH, 201, **HOOK, template="json")
    assert "template" not in people["ann"].get()[0]


def test_no_answer_but_the_first_has_the_secret_or_the_whole_address(
    people: dict[str, Asking],
) -> None:
    secret = people["ann"].post(PATH, 201, **HOOK)["secret"]
    said = str([people["ann"].get(), people["root"].get(f"{PATH}?everybody=true")])
    said += str(people["root"].get("/api/audit"))
    assert "hooks.example.org" in said
    for hidden in (secret, "abcdefgh", "services/T0"):
        assert hidden not in said


def test_somebody_elses_is_seen_and_ended_by_an_admin_alone(people: dict[str, Asking]) -> None:
    number = people["ann"].post(PATH, 201, **HOOK)["subscription"]["id"]
    for name in ("bob", "vic", "root"):
        assert people[name].get() == []
    for name in ("ann", "bob", "vic"):
        people[name].get(f"{PATH}?everybody=true", 403)
    for what in ("pause", "resume", "remove"):
        assert "somebody else's" in people["bob"].post(f"{PATH}/{number}/{what}", 403)["message"]
    assert [each["id"] for each in people["root"].get(f"{PATH}?everybody=true")] == [number]
    people["root"].post(f"{PATH}/{number}/remove", 200)
    assert people["ann"].get() == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ({"address": "https://127.0.0.1/x"}, 422, "is no public address"),
        ({"address": "http://hooks.example.org/x"}, 422, "must be https"),
        ({"address": "https://hooks.example.org@10.0.0.1/x"}, 422, "a user or a fragment"),
        ({"kind": "series", "subject": "nothing"}, 404, "there is no series"),
        ({"kind": "case", "trend_id": 1}, 404, "there is no trend 1"),
        ({"way": "mail", "address": "ann"}, 422, "is no mail address"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(
    people: dict[str, Asking], words: dict[str, Any], code: int, said: str
) -> None:
    problem = people["ann"].post(PATH, code, **(HOOK | words))
    assert said in problem["message"]
    assert problem["hint"]
