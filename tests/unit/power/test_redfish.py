"""Redfish as a real controller in software speaks it, and every way in which one goes wrong."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from pipelines.adapters.power import PowerControl, PowerError, open_power, redfish, redfish_client
from tests.lab import controllers
from tests.lab.certificates import Authority
from tests.unit.power.bmc import RESET, SESSIONS, SYSTEM, Bmc, as_json, served, values


def test_a_real_controller_tells_and_switches_its_chassis(tmp_path: Path) -> None:
    chassis = tmp_path / "chassis-state"
    with controllers.redfish(tmp_path, controllers.state_chassis(chassis)) as found:
        power = open_power({"mitigauge_power": found})
        power.off()
        assert not power.is_on()
        power.cycle()
        assert power.is_on()
        power.cycle()
        power.nmi()
        assert power.progress() == ""
        told = [line for line in (chassis / "calls").read_text().splitlines() if "set" in line]
        assert told == ["set power 0", "set power 1", "set reset 1", "set nmi 1"]
        wrong = controllers.password_file(tmp_path, "wrong")
        with pytest.raises(PowerError, match=r"refuses the user 'rig' or its password"):
            open_power({"mitigauge_power": found | {"password_file": str(wrong)}}).is_on()
        nowhere = found | {"url": found["url"].replace("2794", "1111")}
        with pytest.raises(PowerError, match=r"with 404") as told_where:
            open_power({"mitigauge_power": nowhere}).is_on()
        assert "does url name a system" in told_where.value.hint


def test_each_operation_is_one_session_that_ends(secret: Path) -> None:
    bmc = Bmc(progress="OSBootStarted")
    with served(bmc) as url:
        power = open_power(values(url, secret))
        assert power.is_on()
        power.off()
        assert not power.is_on()
        power.on()
        assert power.progress() == "OSBootStarted"
        bmc.power = "Off"
        power.cycle()
    assert bmc.told == ["ForceOff", "On", "On"]
    assert bmc.sessions == set()
    logins = bmc.requests.count(f"POST {SESSIONS}")
    assert logins == len([r for r in bmc.requests if r.startswith("DELETE")]) == 6


@pytest.mark.parametrize(
    ("resets", "told"),
    [
        (["On", "ForceOff", "ForceRestart", "PowerCycle"], ["ForceRestart"]),
        (["On", "ForceOff", "ForcePowerCycle"], ["ForcePowerCycle"]),
        (["On", "ForceOff", "GracefulRestart"], ["ForceOff", "On"]),
        (["ForceOn", "ForceOff"], ["ForceOff", "ForceOn"]),
        (None, ["ForceRestart"]),
    ],
)
def test_a_cycle_is_what_the_controller_can_do(
    resets: list[str] | None, told: list[str], secret: Path
) -> None:
    bmc = Bmc(resets=resets)
    with served(bmc) as url:
        open_power(values(url, secret)).cycle()
    assert bmc.told == told


def test_resets_may_be_listed_apart_from_the_system(secret: Path) -> None:
    bmc = Bmc()
    info = f"{SYSTEM}/ResetActionInfo"
    action = {"target": RESET, "@Redfish.ActionInfo": info}
    bmc.instead[f"GET {SYSTEM}"] = lambda: as_json(
        {"PowerState": bmc.power, "Actions": {"#ComputerSystem.Reset": action}}
    )
    listed = {"Name": "ResetType", "AllowableValues": ["On", "ForceOff"]}
    bmc.instead[f"GET {info}"] = lambda: as_json({"Parameters": [listed]})
    with served(bmc) as url:
        open_power(values(url, secret)).cycle()
        with pytest.raises(PowerError, match="cannot send an NMI"):
            open_power(values(url, secret)).nmi()
    assert bmc.told == ["ForceOff", "On"]


@pytest.mark.parametrize(("power", "told"), [("On", "cut the power"), ("Off", "power up")])
def test_one_that_lies_about_its_power_is_caught(power: str, told: str, secret: Path) -> None:
    bmc = Bmc(power=power, obeys=False)
    with served(bmc) as url:
        control = open_power(values(url, secret))
        with pytest.raises(PowerError, match=rf"says it is {power.lower()} after.* to {told}"):
            (control.off if power == "On" else control.on)()
    assert bmc.sessions == set()


def test_one_that_refuses_what_it_has_done_already_is_believed(secret: Path) -> None:
    bmc = Bmc()

    def too_late() -> Any:
        bmc.power = "Off"
        return as_json({"error": {"message": "The host is off already."}}, 409)

    bmc.instead[f"POST {RESET}"] = too_late
    with served(bmc) as url:
        open_power(values(url, secret)).off()


def test_one_that_refuses_says_why(secret: Path) -> None:
    bmc = Bmc()
    said = {"error": {"@Message.ExtendedInfo": [{"Message": "Flashing\x1b[2J now."}]}}
    bmc.instead[f"POST {RESET}"] = lambda: as_json(said, 400)
    with (
        served(bmc) as url,
        pytest.raises(PowerError, match=r"with 400: Flashing.\[2J now\.\n") as told,
    ):
        open_power(values(url, secret)).off()
    assert "\x1b" not in told.value.message


def test_a_wrong_password_is_told_and_not_shown(secret: Path) -> None:
    secret.write_text("open barley\n")
    with served(Bmc()) as url, pytest.raises(PowerError, match="refuses the user 'ops'") as told:
        open_power(values(url, secret)).is_on()
    assert "barley" not in str(told.value)


@pytest.mark.parametrize("login", ["session", "basic"])
def test_a_password_that_comes_back_is_not_shown(login: str, secret: Path) -> None:
    bmc = Bmc()
    said = {"error": {"message": "What is 'open sesame'?"}}
    for request in (f"POST {SESSIONS}", f"GET {SYSTEM}"):
        bmc.instead[request] = lambda: as_json(said, 400)
    with served(bmc) as url, pytest.raises(PowerError, match="400: What is '…'") as told:
        open_power(values(url, secret, login=login)).is_on()
    assert "sesame" not in str(told.value)


def test_one_that_is_busy_is_asked_again(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bmc = Bmc()
    busy = [(503, {"Retry-After": "0"}, b"")] * 2

    def first_busy() -> Any:
        if busy:
            return busy.pop()
        del bmc.instead[f"GET {SYSTEM}"]
        return bmc.answer(f"GET {SYSTEM}", {}, next(iter(bmc.sessions)))

    bmc.instead[f"GET {SYSTEM}"] = first_busy
    with served(bmc) as url:
        assert open_power(values(url, secret)).is_on()
        bmc.instead[f"GET {SYSTEM}"] = lambda: (503, {"Retry-After": "86400"}, b"")
        monkeypatch.setattr(redfish_client, "BUSY_LIMIT_S", 1.0)
        monkeypatch.setattr(redfish_client, "LONGEST_BUSY_WAIT_S", 0.5)
        with pytest.raises(PowerError, match=r"is busy: it answered 503 for 1 s"):
            open_power(values(url, secret)).is_on()


def test_one_that_takes_the_connection_and_says_nothing(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redfish_client, "READ_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}{SYSTEM}"
        with pytest.raises(PowerError, match="takes connections and says nothing"):
            open_power(values(url, secret)).is_on()


def test_one_that_says_a_byte_now_and_then_is_cut_off(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        while True:
            handler.wfile.write(b"x")
            time.sleep(0.1)

    monkeypatch.setattr(redfish, "LIMIT_S", 1.0)
    with served(Bmc(stream=drip)) as url, pytest.raises(PowerError, match="took more than 1 s"):
        open_power(values(url, secret)).is_on()


@pytest.mark.parametrize("length", ["Content-Length: 104857600", "Connection: close"])
def test_a_hundred_megabytes_are_not_read(length: str, secret: Path) -> None:
    sent = 0

    def flood(handler: BaseHTTPRequestHandler) -> None:
        nonlocal sent
        handler.wfile.write(f"HTTP/1.1 200 OK\r\n{length}\r\n\r\n".encode())
        for _ in range(1600):
            handler.wfile.write(b"x" * 65536)
            sent += 65536

    with (
        served(Bmc(stream=flood)) as url,
        pytest.raises(PowerError, match="more than 1048576 bytes"),
    ):
        open_power(values(url, secret)).is_on()
    assert sent < 50 << 20


def test_a_redirect_to_another_machine_is_not_followed(secret: Path) -> None:
    thief = Bmc()
    with served(thief) as elsewhere, served(bmc := Bmc()) as url:
        bmc.instead[f"GET {SYSTEM}"] = lambda: (307, {"Location": elsewhere}, b"")
        with pytest.raises(PowerError, match=r"redirects GET .*which is not followed"):
            open_power(values(url, secret)).is_on()
    assert thief.requests == []


@pytest.mark.parametrize("place", ["sessions", "target", "info"])
def test_no_link_takes_the_password_to_another_machine(place: str, secret: Path) -> None:
    thief, bmc = Bmc(), Bmc()
    with served(thief) as elsewhere, served(bmc) as url:
        action: dict[str, Any] = {"target": elsewhere}
        if place == "info":
            action = {"@Redfish.ActionInfo": f"//127.0.0.1:{thief.port}/x"}
        lies: dict[str, Callable[[], Any]] = {
            "sessions": lambda: as_json({"Links": {"Sessions": {"@odata.id": elsewhere}}}),
            "target": lambda: as_json(
                {"PowerState": "On", "Actions": {"#ComputerSystem.Reset": action}}
            ),
        }
        lies["info"] = lies["target"]
        asked = "GET /redfish/v1/" if place == "sessions" else f"GET {SYSTEM}"
        bmc.instead[asked] = lies[place]
        with pytest.raises(PowerError, match="which is another machine"):
            open_power(values(url, secret)).off()
    assert thief.requests == []


def test_a_session_is_ended_where_it_was_opened_whatever_the_controller_calls_itself(
    secret: Path,
) -> None:
    thief, bmc = Bmc(), Bmc(sessions={"t"})
    with served(thief) as elsewhere, served(bmc) as url:
        made = {
            "X-Auth-Token": "t",
            "Location": f"{elsewhere.partition('/redfish')[0]}{SESSIONS}/t",
        }
        bmc.instead[f"POST {SESSIONS}"] = lambda: (201, made, b"")
        assert open_power(values(url, secret)).is_on()
    assert bmc.requests[-1] == f"DELETE {SESSIONS}/t"
    assert thief.requests == []


@pytest.mark.parametrize("said", [b"<html>", b"[" * 100_000, b"[]", b"\xff\xfe", b""])
def test_what_is_no_answer_of_redfish_is_told(said: bytes, secret: Path) -> None:
    bmc = Bmc()
    bmc.instead[f"GET {SYSTEM}"] = lambda: (200, {}, said)
    with served(bmc) as url, pytest.raises(PowerError, match="no JSON object"):
        open_power(values(url, secret)).is_on()


@pytest.mark.parametrize("said", [{}, {"PowerState": None}, {"PowerState": ["On"]}])
def test_a_system_without_a_power_state_is_told(said: dict[str, Any], secret: Path) -> None:
    bmc = Bmc()
    bmc.instead[f"GET {SYSTEM}"] = lambda: as_json(said)
    with served(bmc) as url, pytest.raises(PowerError, match="tells no power state"):
        open_power(values(url, secret)).is_on()


class TestCertificates:
    """Who it is that the password is sent to."""

    @pytest.fixture
    def authority(self, tmp_path: Path) -> Authority:
        return Authority(tmp_path / "ours")

    def control(self, url: str, secret: Path, ca_file: Path | None) -> PowerControl:
        return open_power(values(url, secret, ca_file=None if ca_file is None else str(ca_file)))

    def test_one_by_the_operators_authority_is_trusted(
        self, authority: Authority, secret: Path
    ) -> None:
        with served(Bmc(), authority.issue("127.0.0.1")) as url:
            assert self.control(url, secret, authority.ca_file).is_on()

    def test_no_other_is_and_nothing_is_sent(
        self, authority: Authority, secret: Path, tmp_path: Path
    ) -> None:
        other = Authority(tmp_path / "other")
        for bmc, issued, ca_file in (
            (Bmc(), authority.issue("127.0.0.1"), other.ca_file),
            (Bmc(), authority.issue("127.0.0.1"), None),
            (Bmc(), authority.issue("bmc1.example.org"), authority.ca_file),
        ):
            with (
                served(bmc, issued) as url,
                pytest.raises(PowerError, match="certificate that is not trusted: ") as told,
            ):
                self.control(url, secret, ca_file).is_on()
            assert "ca_file" in told.value.hint
            assert bmc.requests == []

    def test_an_authority_that_is_not_there_is_told(self, secret: Path, tmp_path: Path) -> None:
        for ca_file in (tmp_path / "missing.pem", secret):
            with pytest.raises(PowerError, match="of the controller's authority cannot be used"):
                self.control(f"https://127.0.0.1:9{SYSTEM}", secret, ca_file).is_on()


def test_nobody_there_is_told(secret: Path) -> None:
    with pytest.raises(PowerError, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        open_power(values(f"http://127.0.0.1:9{SYSTEM}", secret)).is_on()


def test_no_proxy_of_the_environment_gets_to_see_it(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(proxy := Bmc()) as elsewhere, served(Bmc()) as url:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, elsewhere.partition("/redfish")[0])
        monkeypatch.delenv("no_proxy", raising=False)
        assert open_power(values(url, secret)).is_on()
    assert proxy.requests == []
