"""Config profiles by the hosts that a kernel is to boot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mitigauge.core.errors import InvalidInput
from mitigauge.core.natural_order import natural_order
from mitigauge.kernels.config_profile import Profile, profile_of
from mitigauge.kernels.host_config import AS_HOST, LOCAL, profile_name
from mitigauge.measurement.fleet.inventory import load_hosts
from mitigauge.measurement.fleet.service import HostVars

# The config profile that comes with us: no disk of a server, no network card, no module.
LAB_PROFILE = "lab"
# What stands for the configuration of an experiment's own hosts; with nothing given, they decide.
_BY_HOSTS = ("", AS_HOST, AS_HOST + LOCAL)


def is_by_hosts(asked: str) -> bool:
    """Whether the hosts of an experiment decide what an asked profile stands for."""
    return asked in _BY_HOSTS


def profile_on(asked: str, hosts: Sequence[HostVars]) -> str:
    """The name of the profile of kernels for *hosts*, all of one environment.

    With nothing asked: ``lab`` on emulated hosts, the hosts' own on real ones. Raises InvalidInput
    where some are emulated and some are not.
    """
    if not is_by_hosts(asked):
        return asked
    real = [host.name for host in hosts if not host.emulated]
    if not asked and not real:
        return LAB_PROFILE
    if not asked and len(real) < len(hosts):
        raise InvalidInput(
            f"{', '.join(real)} are real hosts and the others are emulated: "
            "no one profile is taken by itself",
            hint=f"Name one: `--profile {AS_HOST}` for all hosts' own, or `--profile NAME`.",
        )
    if not hosts:
        raise InvalidInput(
            f"the profile {AS_HOST} has no host to stand for",
            hint=f"Name the host: `--profile {AS_HOST}:ENVIRONMENT/HOST`.",
        )
    # By name: the same hosts in another order are the same kernel.
    names = sorted((host.name for host in hosts), key=natural_order)
    name = profile_name(hosts[0].environment, names)
    return name + LOCAL if asked.endswith(LOCAL) else name


def named_hosts(environment: str, names: Collection[str] = ()) -> list[HostVars]:
    """Those hosts of an environment, in its order; with no names, all of them.

    Raises NotFound for an environment that there is not. A name that it lacks is left out.
    """
    hosts = load_hosts(environment)
    return [host for name, host in hosts.items() if not names or name in names]


def profile_for(asked: str, environment: str, names: Collection[str] = ()) -> Profile:
    """What kernels for those hosts are configured by. Raises as :func:`profile_on` and
    :func:`profile_of`.
    """
    if is_by_hosts(asked):
        return profile_of(profile_on(asked, named_hosts(environment, names)))
    return profile_of(asked)


def require_bootable(profile: str, kernel: str, hosts: Iterable[HostVars]) -> None:
    """Raises :class:`InvalidInput` for a kernel of the lab's profile on a real host."""
    real = [host.name for host in hosts if not host.emulated]
    if profile == LAB_PROFILE and real:
        raise InvalidInput(
            f"{kernel} has the config profile {LAB_PROFILE!r}, which boots emulated hosts alone: "
            f"drivers of disk and network card of {', '.join(real)} are not in it",
            hint="Build it with the hosts' own configuration, which `mitigauge host check` keeps: "
            f"`--profile {AS_HOST}:ENVIRONMENT/HOST`; of a series, "
            f"`mitigauge series set NAME --profile {AS_HOST}`.",
        )
