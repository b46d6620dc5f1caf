"""From a spec's text to a planned experiment, the catalogue and inventories looked up."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.access.roles import OPERATOR
from mitigauge.catalog import Catalog
from mitigauge.experiments.spec import KnownHost, check_spec, environment_named_in
from mitigauge.experiments.spec_model import ExperimentSpec
from mitigauge.experiments.submit import submit
from mitigauge.experiments.tables import Experiment
from mitigauge.fleet.inventory import environment_names, load_hosts
from mitigauge.fleet.service import HostVars
from mitigauge.yaml_file import parse_yaml


def check_text(text: str, *, name: str) -> tuple[ExperimentSpec, dict[str, HostVars]]:
    """Read and check a spec; raises :class:`InvalidInput` with file, line and known names."""
    document = parse_yaml(text, name)
    wanted = environment_named_in(document)
    hosts = load_hosts(wanted) if wanted in environment_names() else {}
    known = {
        environment: {
            host.name: KnownHost(host.name, host.capabilities)
            for host in (hosts.values() if environment == wanted else ())
        }
        for environment in environment_names()
    }
    return check_spec(document, catalog=Catalog(), hosts=known), hosts


def submit_text(session: Session, text: str, *, name: str, submitted_by: str = OPERATOR) -> int:
    """Check a spec and store it with its plan and owner; returns the experiment's id."""
    spec, hosts = check_text(text, name=name)
    experiment_id = submit(session, spec, text, catalog=Catalog(), hosts=hosts)
    session.get_one(Experiment, experiment_id).submitted_by = submitted_by
    return experiment_id
