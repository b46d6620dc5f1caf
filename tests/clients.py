"""Clients of the service for tests: under a name that it knows, with a token of a role."""

from __future__ import annotations

import secrets

from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from mitigauge.access import service as access
from mitigauge.access.roles import Role
from mitigauge.storage.database.engine import transaction

HERE = "http://localhost:8600"
ROLES = ("viewer", "runner", "submitter", "approver", "admin")


def client_of(service: FastAPI, headers: dict[str, str] | None = None) -> TestClient:
    """A client that sends those headers each time; errors come back as answers."""
    return TestClient(service, base_url=HERE, headers=headers, raise_server_exceptions=False)


def token_of(engine: Engine, role: str, name: str = "") -> str:
    """A fresh token of that role, named as wanted or by chance."""
    with transaction(engine) as session:
        wanted = name or f"{role}-{secrets.token_hex(4)}"
        return access.create_token(session, wanted, Role(role), days=1).token


def bearer(token: str) -> dict[str, str]:
    """Headers with a token, and with the content type that every change needs."""
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
