"""Power by a controller that speaks Redfish (DSP0266), over HTTPS."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from mitigauge.core.hostile_text import clean_text
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.fleet.power_values import RedfishPowerValues
from pipelines.adapters.power import protocol
from pipelines.adapters.power.in_time import in_time
from pipelines.adapters.power.protocol import PowerError, not_obeyed
from pipelines.adapters.power.redfish_client import Faulted, RedfishClient, Refused, Unclear

# All of an operation: login, at most two switches with their waiting, two minutes in which the
# controller is not ready, the session's end.
LIMIT_S = 360.0

# What vendors call a reset, the first one that a controller knows being taken. The standard's
# own names (DSP2046, ResetType) stand first; ForcePowerCycle is Huawei's and xFusion's, NMI of
# some older firmware.
RESETS: Mapping[str, tuple[str, ...]] = {
    "on": ("On", "ForceOn"),
    "off": ("ForceOff",),
    "cycle": ("ForceRestart", "ForcePowerCycle", "PowerCycle"),
    "nmi": ("Nmi", "NMI"),
}
# What each PowerState is to us. One that goes off is on until it is.
POWERED: Mapping[str, bool] = {
    "On": True,
    "Off": False,
    "PoweringOn": True,
    "PoweringOff": True,
    "Paused": True,
}
_RESET = "#ComputerSystem.Reset"
_ALLOWED = "ResetType@Redfish.AllowableValues"

Result = TypeVar("Result")

log = get_logger(__name__)


class RedfishPower:
    """A controller over Redfish (``driver: redfish``). Each operation is one session."""

    def __init__(self, values: RedfishPowerValues) -> None:
        self._values = values

    def is_on(self) -> bool:
        """See PowerControl."""
        return self._session(_System.is_on)

    def on(self) -> None:
        """See PowerControl."""
        self._session(_System.on)

    def off(self) -> None:
        """See PowerControl."""
        self._session(_System.off)

    def cycle(self) -> None:
        """See PowerControl."""
        self._session(_System.cycle)

    def nmi(self) -> None:
        """See PowerControl."""
        self._session(_System.nmi)

    def progress(self) -> str:
        """See PowerControl."""
        return self._session(_System.progress)

    def _session(self, work: Callable[[_System], Awaitable[Result]]) -> Result:
        async def talk() -> Result:
            async with RedfishClient(self._values) as client:
                system = _System(client, client.path_of(self._values.url))
                return await work(system)

        try:
            return in_time(talk, LIMIT_S)
        except TimeoutError as error:
            raise PowerError(
                f"The Redfish controller of {self._values.url} took more than {LIMIT_S:g} s.",
                hint="Restart the controller.",
            ) from error


class _System:
    """One system of a controller that we are logged in to."""

    def __init__(self, client: RedfishClient, path: str) -> None:
        self._client = client
        self._path = path

    async def is_on(self) -> bool:
        deadline = time.monotonic() + protocol.NOT_YET_S
        while True:
            try:
                return await self._look()
            except Unclear:
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(protocol.ASK_EVERY_S)

    async def _look(self) -> bool:
        """Whether it is on; :class:`Unclear` where that is not told at this moment."""
        said = (await self._client.get(self._path)).get("PowerState")
        if not isinstance(said, str) or said not in POWERED:
            raise Unclear(
                f"{self._client.name} tells no power state of {self._path}: "
                f"{clean_text(repr(said))[:60]}.",
                hint="Does url name a system that `…/redfish/v1/Systems` lists?",
            )
        return POWERED[said]

    async def on(self) -> None:
        await self._switch("on", True)

    async def off(self) -> None:
        await self._switch("off", False)

    async def cycle(self) -> None:
        if not await self.is_on():
            await self.on()
            return
        known = await self._known("cycle")
        if known is None:
            await self.off()
            await self.on()
            return
        before = await self._marks()
        try:
            await self._reset(known)
        except Unclear as doubt:
            await self._require_reset(before, doubt)
        if unread := await self._wait(True):
            # Told again, it would reset a host that is starting: the boot's time-out judges.
            log.warning("power state not told after a reset", reason=unread.message)

    async def nmi(self) -> None:
        known = await self._known("nmi")
        if known is None:
            raise PowerError(
                f"{self._client.name} cannot send an NMI to {self._path}.",
                hint="It lists none among the resets that it can do.",
            )
        await self._reset(known)

    async def progress(self) -> str:
        said = (await self._client.get(self._path)).get("BootProgress")
        last = said.get("LastState") if isinstance(said, Mapping) else None
        return clean_text(str(last))[:60] if last and last != "None" else ""

    async def _switch(self, action: str, wanted: bool) -> None:
        if await self.is_on() is wanted:
            return
        known = await self._known(action)
        if known is None:
            raise PowerError(
                f"{self._client.name} cannot switch {self._path} {action}.",
                hint=f"It lists none of {', '.join(RESETS[action])} among its resets.",
            )
        doubt: PowerError | None = None
        try:
            await self._reset(known)
        except Refused:
            # Some answer 409 or 400 where the state was reached a moment before.
            if await self.is_on() is not wanted:
                raise
        except Unclear as error:
            doubt = error
        try:
            unread = await self._wait(wanted)
        except PowerError as error:
            raise doubt or error from error
        if unread is not None:
            raise doubt or unread

    async def _wait(self, wanted: bool) -> PowerError | None:
        """Wait until it is so; at the end why nothing can be read. PowerError if it is not so."""
        deadline = time.monotonic() + protocol.SETTLE_S
        while True:
            unread: PowerError | None = None
            try:
                if await self._look() is wanted:
                    return None
            except PowerError as error:
                unread = error
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(protocol.ASK_EVERY_S)
        if unread is None:
            raise not_obeyed(wanted, self._client.name)
        return unread

    async def _marks(self) -> tuple[object, ...]:
        """What changes when the host is reset, where the controller tells it."""
        said = await self._client.get(self._path)
        return said.get("PowerState"), said.get("LastResetTime"), said.get("BootProgress")

    async def _require_reset(self, before: tuple[object, ...], doubt: Unclear) -> None:
        """Raise *doubt* where it says that the reset failed and nothing shows that it was made.

        A line that broke says nothing: the boot's time-out judges, and no second reset is sent.
        """
        deadline = time.monotonic() + protocol.NOT_YET_S
        while isinstance(doubt, Faulted):
            try:
                if await self._marks() != before:
                    return
            except PowerError:
                break  # it told them a moment ago
            if time.monotonic() > deadline:
                raise doubt
            await asyncio.sleep(protocol.ASK_EVERY_S)
        log.warning("no answer to a reset, which is not sent again", reason=doubt.message)

    async def _known(self, action: str) -> str | None:
        """The controller's name of a reset; None where it has none."""
        allowed = await self._allowed()
        if allowed is None:
            # It does not say, so it is taken by the standard's word.
            return RESETS[action][0]
        return next((name for name in RESETS[action] if name in allowed), None)

    async def _allowed(self) -> frozenset[str] | None:
        """The resets that the controller lists; None where it lists none at all."""
        action = await self._action()
        listed = action.get(_ALLOWED)
        if listed is None and action.get("@Redfish.ActionInfo"):
            info = await self._client.get(self._client.path_of(action["@Redfish.ActionInfo"]))
            listed = _of_parameter(info, "ResetType")
        if not isinstance(listed, list):
            return None
        return frozenset(str(name) for name in listed)

    async def _reset(self, kind: str) -> None:
        target = (await self._action()).get("target")
        path = f"{self._path.rstrip('/')}/Actions/ComputerSystem.Reset"
        await self._client.post(
            self._client.path_of(target) if target else path, {"ResetType": kind}
        )

    async def _action(self) -> Mapping[str, Any]:
        actions = (await self._client.get(self._path)).get("Actions")
        found = actions.get(_RESET) if isinstance(actions, Mapping) else None
        return found if isinstance(found, Mapping) else {}


def _of_parameter(info: Mapping[str, Any], name: str) -> object:
    parameters = info.get("Parameters")
    for each in parameters if isinstance(parameters, list) else []:
        if isinstance(each, Mapping) and each.get("Name") == name:
            return each.get("AllowableValues")
    return None
