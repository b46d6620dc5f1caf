"""Hosts as entries of the audit log name them."""

from __future__ import annotations

from mitigauge.access.audit.actions import Subject, SubjectKind
from mitigauge.measurement.fleet.tables import Host


def subject_of(host: Host) -> Subject:
    """``ENVIRONMENT/NAME``: names alone are not unique."""
    return Subject(SubjectKind.HOST, f"{host.environment}/{host.name}")
