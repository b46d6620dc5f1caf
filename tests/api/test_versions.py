"""Addresses that stay: /api/v1 is the API."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient


@pytest.mark.parametrize(
    "path", ["/health/live", "/experiments?limit=1", "/hosts", "/experiments/4711", "/hosts/%2e%2e"]
)
def test_each_route_answers_under_its_version_as_without(client: TestClient, path: str) -> None:
    plain, versioned = client.get(f"/api{path}"), client.get(f"/api/v1{path}")
    assert versioned.status_code == plain.status_code
    assert _without_id(versioned.json()) == _without_id(plain.json())


def _without_id(answer: object) -> object:
    if isinstance(answer, dict):
        return {name: value for name, value in answer.items() if name != "request_id"}
    return answer


@pytest.mark.parametrize("path", ["/api/v2/hosts", "/api/v1/v1/hosts", "/api/v1", "/api/V1/hosts"])
def test_no_other_version_is_spoken(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_the_description_names_the_addresses_that_stay(client: TestClient) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert document == client.get("/api/openapi.json").json()
    assert all(path.startswith("/api/v1/") for path in document["paths"])
    assert "/api/v1/experiments/{experiment_id}" in document["paths"]
    names = [
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
    ]
    assert len(names) == len(set(names))


def test_what_may_not_be_done_may_not_be_done_under_a_version(stranger: TestClient) -> None:
    assert stranger.get("/api/v1/experiments").status_code == 401
    answer = stranger.post(
        "/api/v1/experiments", content="x", headers={"Content-Type": "text/plain"}
    )
    assert answer.status_code in (401, 415)
