"""From a spec's text to a checked spec, the catalogue and inventories looked up."""

from __future__ import annotations

from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec import check_spec, environment_named_in
from mitigauge.measurement.experiments.spec_faults import KnownHost
from mitigauge.measurement.experiments.spec_model import ExperimentSpec
from mitigauge.measurement.fleet.inventory import environment_names, load_hosts
from mitigauge.measurement.fleet.service import HostVars


def check_text(
    text: str, *, name: str, catalog: Catalog
) -> tuple[ExperimentSpec, dict[str, HostVars]]:
    """Read and check a spec; raises :class:`InvalidInput` with file, line and known names."""
    document = parse_yaml(text, name)
    wanted = environment_named_in(document)
    hosts = load_hosts(wanted) if wanted in environment_names() else {}
    known = {
        environment: {
            host.name: KnownHost(host.name, host.capabilities, host.clock, host.guest_image)
            for host in (hosts.values() if environment == wanted else ())
        }
        for environment in environment_names()
    }
    return check_spec(document, catalog=catalog, hosts=known), hosts
