"""What controllers of real servers answer: redirects, silence after a reset, refusals in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.adapters.power import PowerError, open_power, redfish_client
from tests.unit.power.bmc import RESET, SESSIONS, SYSTEM, Answer, Bmc, as_json, served, values


def refusal(status: int, message: str = "", name: str = "") -> Callable[[], Answer]:
    """An answer with a message, by its text and by its name in a registry."""
    message_of = {"Message": message} if message else {}
    name_of = {"MessageId": name} if name else {}
    error = {
        "message": "See @Message.ExtendedInfo for more information.",
        "@Message.ExtendedInfo": [message_of | name_of],
    }
    return lambda: as_json({"error": error}, status)


def broken() -> Answer:
    """A line that ends without an answer."""
    raise ConnectionAbortedError


def moved(status: int, place: str) -> Callable[[], Answer]:
    return lambda: (status, {"Location": place}, b"")


class TestRedirects:
    """Some serve a system only with a slash at its end: `GET Systems/1` is answered by 308."""

    @pytest.mark.parametrize("written", ["", "/"])
    @pytest.mark.parametrize("place", ["{path}/", "{origin}{path}/", "1/"])
    def test_a_slash_is_kept_or_followed(self, written: str, place: str, secret: Path) -> None:
        bmc = Bmc(power="Off")
        with served(bmc) as url:
            origin = url.partition("/redfish")[0]
            there = place.format(path=SYSTEM, origin=origin)
            bmc.instead[f"GET {SYSTEM}"] = moved(308, there)
            bmc.instead[f"GET {SYSTEM}/"] = bmc.system
            open_power(values(url + written, secret)).on()
        assert bmc.told == ["On"]
        # One that is written with its slash is asked so at once.
        assert (f"GET {SYSTEM}" in bmc.requests) is (written == "")

    def test_a_reset_is_sent_on_with_what_it_says(self, secret: Path) -> None:
        bmc = Bmc()
        bmc.instead[f"POST {RESET}"] = moved(308, f"{RESET}/")
        bmc.instead[f"POST {RESET}/"] = lambda: bmc.reset("ForceRestart")
        with served(bmc) as url:
            open_power(values(url, secret)).cycle()
        assert bmc.told == ["ForceRestart"]

    @pytest.mark.parametrize("status", [301, 302, 303])
    def test_a_redirect_that_loses_what_is_sent_is_not_followed(
        self, status: int, secret: Path
    ) -> None:
        bmc = Bmc()
        bmc.instead[f"POST {RESET}"] = moved(status, f"{RESET}/")
        with served(bmc) as url, pytest.raises(PowerError, match="which is not followed"):
            open_power(values(url, secret)).cycle()
        assert bmc.told == []

    @pytest.mark.parametrize(
        "place",
        [
            "https://127.0.0.1:{own}/redfish/v1/Systems/1/",  # another scheme
            "http://localhost:{own}/redfish/v1/Systems/1/",  # another name
            "http://127.0.0.1:{thief}/redfish/v1/Systems/1/",  # another port
            "//127.0.0.1:{thief}/x",
            "http://127.0.0.1:{own}@127.0.0.1:{thief}/x",
            "http://ops@127.0.0.1:{own}/redfish/v1/Systems/1/",
            "http://[",
            "http://127.0.0.1:99999999/",
        ],
    )
    @pytest.mark.parametrize("login", ["session", "basic"])
    def test_none_leaves_the_origin(self, place: str, login: str, secret: Path) -> None:
        thief, bmc = Bmc(), Bmc()
        with served(thief), served(bmc) as url:
            there = place.format(own=bmc.port, thief=thief.port)
            bmc.instead[f"GET {SYSTEM}"] = moved(308, there)
            with pytest.raises(PowerError, match="which is not followed"):
                open_power(values(url, secret, login=login)).is_on()
        assert thief.requests == []

    @pytest.mark.parametrize(
        "place",
        ["@127.0.0.1:{thief}/x", "http://127.0.0.1:{thief}", "//127.0.0.1:{thief}/x", "http://["],
    )
    def test_no_name_of_a_session_takes_its_token_elsewhere(self, place: str, secret: Path) -> None:
        thief, bmc = Bmc(), Bmc(sessions={"t"})
        with served(thief), served(bmc) as url:
            made = {"X-Auth-Token": "t", "Location": place.format(thief=thief.port)}
            bmc.instead[f"POST {SESSIONS}"] = lambda: (201, made, b"")
            assert open_power(values(url, secret)).is_on()
        assert thief.requests == []

    def test_a_circle_ends(self, secret: Path) -> None:
        bmc = Bmc()
        bmc.instead[f"GET {SYSTEM}"] = moved(308, SYSTEM)
        with served(bmc) as url, pytest.raises(PowerError, match="which is not followed"):
            open_power(values(url, secret)).is_on()
        assert bmc.requests.count(f"GET {SYSTEM}") == redfish_client.REDIRECTS_LIMIT + 1


NOT_YET: dict[str, Callable[[], Answer]] = {
    "null": lambda: as_json({"PowerState": None}),
    "500": refusal(500, "An internal error occurred."),
    "broken": broken,
    "no JSON": lambda: (200, {}, b""),
    "gone": lambda: as_json({}, 404),
    "logged out": lambda: as_json({}, 401),
}


def unsettled(bmc: Bmc, answer: Callable[[], Answer], times: int) -> None:
    """Let *bmc* answer so, *times* times, to questions for its system."""
    left = [answer] * times

    def next_answer() -> Answer:
        return left.pop()() if left else bmc.system()

    bmc.instead[f"GET {SYSTEM}"] = next_answer


class TestAfterAReset:
    """For seconds a controller tells nothing of a host that it has reset."""

    @pytest.mark.parametrize("kind", NOT_YET)
    @pytest.mark.parametrize("times", [3, 1000])
    def test_it_is_reset_once_whatever_is_told_then(
        self, kind: str, times: int, secret: Path
    ) -> None:
        bmc = Bmc()

        def reset() -> Answer:
            unsettled(bmc, NOT_YET[kind], times)
            return bmc.reset("ForceRestart")

        bmc.instead[f"POST {RESET}"] = reset
        with served(bmc) as url:
            open_power(values(url, secret)).cycle()
        assert bmc.told == ["ForceRestart"]

    @pytest.mark.parametrize("kind", ["null", "500", "broken"])
    def test_a_question_is_asked_again(self, kind: str, secret: Path) -> None:
        bmc = Bmc()
        unsettled(bmc, NOT_YET[kind], 2)
        with served(bmc) as url:
            assert open_power(values(url, secret)).is_on()

    def test_an_inner_fault_that_stays_is_told_in_its_words(self, secret: Path) -> None:
        bmc = Bmc()
        unsettled(bmc, NOT_YET["500"], 1000)
        with served(bmc) as url, pytest.raises(PowerError, match="500: An internal error"):
            open_power(values(url, secret)).is_on()

    @pytest.mark.parametrize("answer", [broken, refusal(500, "An internal error occurred.")])
    def test_a_reset_that_was_made_and_not_answered_is_not_made_again(
        self, answer: Callable[[], Answer], secret: Path
    ) -> None:
        bmc = Bmc()

        def reset() -> Answer:
            bmc.reset("ForceRestart")
            unsettled(bmc, NOT_YET["null"], 2)
            return answer()

        bmc.instead[f"POST {RESET}"] = reset
        with served(bmc) as url:
            open_power(values(url, secret)).cycle()
        assert bmc.told == ["ForceRestart"]
        assert bmc.requests.count(f"POST {RESET}") == 1

    def test_a_reset_that_failed_inside_the_controller_is_told(self, secret: Path) -> None:
        bmc = Bmc()
        bmc.instead[f"POST {RESET}"] = refusal(500, "The chassis does not answer.")
        with served(bmc) as url, pytest.raises(PowerError, match="500: The chassis does not"):
            open_power(values(url, secret)).cycle()
        assert bmc.requests.count(f"POST {RESET}") == 1

    def test_a_switch_that_was_not_answered_is_seen_by_the_power(self, secret: Path) -> None:
        bmc = Bmc()

        def reset() -> Answer:
            bmc.reset("ForceOff")
            return broken()

        bmc.instead[f"POST {RESET}"] = reset
        with served(bmc) as url:
            open_power(values(url, secret)).off()
        assert bmc.told == ["ForceOff"]

    def test_one_that_stays_off_after_a_reset_is_caught(self, secret: Path) -> None:
        bmc = Bmc()

        def reset() -> Answer:
            bmc.power = "Off"
            return 204, {}, b""

        bmc.instead[f"POST {RESET}"] = reset
        with served(bmc) as url, pytest.raises(PowerError, match="says it is off"):
            open_power(values(url, secret)).cycle()


class TestRefusals:
    """A refusal has the controller's own words, and the way out that they ask for."""

    @pytest.mark.parametrize(
        ("status", "message", "name", "hint"),
        [
            (
                403,
                "The password provided for this account must be changed before access is granted.",
                "Base.1.8.PasswordChangeRequired",
                "give the user a password of its own",
            ),
            (403, "", "iLO.2.14.LicenseKeyRequired", "wants a licence"),
            (403, "You need a license to do that.", "", "wants a licence"),
            (403, "", "Base.1.4.InsufficientPrivilege", "the right to operate"),
            (503, "", "Base.1.8.SessionLimitExceeded", "login: basic"),
            (400, "The maximum number of user sessions is reached.", "", "login: basic"),
        ],
    )
    @pytest.mark.parametrize("request_", [f"POST {SESSIONS}", f"GET {SYSTEM}", f"POST {RESET}"])
    def test_it_is_told(
        self,
        status: int,
        message: str,
        name: str,
        hint: str,
        request_: str,
        secret: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(redfish_client, "BUSY_LIMIT_S", 0.2)
        bmc = Bmc()
        bmc.instead[request_] = refusal(status, message, name)
        with served(bmc) as url, pytest.raises(PowerError) as told:
            open_power(values(url, secret)).off()
        assert (message or name.rpartition(".")[2]).rstrip(".") in told.value.message
        assert hint in told.value.hint

    def test_words_outside_an_error_and_in_plain_text_are_told(self, secret: Path) -> None:
        bmc = Bmc()
        outside = as_json({"@Message.ExtendedInfo": [{"Message": "Locked out."}]}, 403)
        for answer, words in ((outside, "Locked out"), ((403, {}, b"no entry"), "no entry")):
            bmc.instead[f"GET {SYSTEM}"] = lambda answer=answer: answer
            with served(bmc) as url, pytest.raises(PowerError, match=words):
                open_power(values(url, secret)).is_on()

    @pytest.mark.parametrize(
        "said",
        [
            {"error": {"@Message.ExtendedInfo": [{"Message": "open sesame \x1b[2J" + "x" * 9000}]}},
            {"@Message.ExtendedInfo": [{"Message": {"a": 1}, "MessageId": ["open sesame"]}]},
            {"error": {"@Message.ExtendedInfo": "no list"}},
            {"error": ["open sesame"], "@Message.ExtendedInfo": {"Message": 5}},
            {"error": {"message": {"deep": ["open sesame"]}}},
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("status", [400, 403, 500])
    def test_hostile_words_are_bounded_and_tell_no_secret(
        self, said: Any, status: int, secret: Path
    ) -> None:
        bmc = Bmc()
        bmc.instead[f"GET {SYSTEM}"] = lambda: as_json(said, status)
        with served(bmc) as url, pytest.raises(PowerError) as told:
            open_power(values(url, secret, login="basic")).is_on()
        shown = str(told.value)
        assert "sesame" not in shown
        assert "\x1b" not in shown
        assert len(shown) < 800


def test_a_long_path_of_the_controllers_is_not_shown_whole(secret: Path) -> None:
    bmc = Bmc()
    action = {"target": "/" + "x" * 5000}
    bmc.instead[f"GET {SYSTEM}"] = lambda: as_json(
        {"PowerState": "On", "Actions": {"#ComputerSystem.Reset": action}}
    )
    with served(bmc) as url, pytest.raises(PowerError, match="with 404") as told:
        open_power(values(url, secret)).off()
    assert len(told.value.message) < 1000


class TestNotReady:
    """While its host starts, a controller refuses with "not ready", for up to two minutes."""

    @pytest.fixture(autouse=True)
    def impatient_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(redfish_client, "BUSY_WAIT_S", 0.5)

    @pytest.mark.parametrize(
        "answer",
        [
            refusal(400, "The system is not ready. Retry later."),
            refusal(400, "", "iLO.2.14.ResourceNotReadyRetry"),
            refusal(409, "Not yet ready."),
        ],
    )
    def test_it_is_asked_again(self, answer: Callable[[], Answer], secret: Path) -> None:
        bmc = Bmc()
        left = [answer] * 2

        def reset() -> Answer:
            return left.pop()() if left else bmc.reset("ForceRestart")

        bmc.instead[f"POST {RESET}"] = reset
        with served(bmc) as url:
            open_power(values(url, secret)).cycle()
        assert bmc.told == ["ForceRestart"]

    def test_one_that_never_is_is_told(self, secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(redfish_client, "NOT_READY_LIMIT_S", 0.7)
        bmc = Bmc()
        bmc.instead[f"POST {RESET}"] = refusal(400, "The system is not ready.")
        with served(bmc) as url, pytest.raises(PowerError, match="400: The system is not ready"):
            open_power(values(url, secret)).cycle()
        assert bmc.requests.count(f"POST {RESET}") == 2
        assert bmc.told == []
