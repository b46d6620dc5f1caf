"""Results on their way to where kernel developers look. Each way can be gone twice.

An answer may be lost after the server did what was asked. KCIDB knows rows by our ids; patchwork
and GitHub are asked first whether they have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import Settings
from mitigauge.reporting.letters.report.service import gathered
from mitigauge.reporting.publications import github, kcidb, patchwork, service
from mitigauge.reporting.publications.facts import Facts
from mitigauge.reporting.publications.service import Begun, Ended
from mitigauge.reporting.publications.states import PublicationState, TargetName
from mitigauge.storage.database.engine import in_words, is_away, transaction
from pipelines.adapters.rest import NoAnswer, RestServer, Said

log = get_logger(__name__)
GITHUB_VERSION = "2022-11-28"
# What a server refuses for good; all else may be otherwise tomorrow.
_REFUSES = (400, 404, 410, 422)


def targets_of(settings: Settings) -> list[TargetName]:
    """Where this service publishes."""
    is_set = {
        TargetName.KCIDB: settings.kcidb_url and settings.kcidb_origin,
        TargetName.PATCHWORK: settings.patchwork_url and settings.patchwork_token,
        TargetName.GITHUB: settings.github_repository and settings.github_token,
    }
    return [target for target, wanted in is_set.items() if wanted]


@dataclass(frozen=True, slots=True)
class Publisher:
    """Sends results as the settings say."""

    engine: Engine
    settings: Settings

    def send_next(self) -> bool:
        """Send one whose time has come; False where there is none.

        No transaction is open and no lock is held while the other side is waited for.
        """
        with transaction(self.engine) as session:
            begun = service.begin_next(session, targets_of(self.settings))
        if begun is None:
            return False
        ended = self._send(begun)
        with transaction(self.engine) as session:
            state = service.end(session, begun, ended)
        log.info("publication", target=str(begun.target), experiment=begun.experiment_id,
                 state=str(state), said=ended.said)  # fmt: skip
        return True

    def _send(self, begun: Begun) -> Ended:
        ways: Mapping[TargetName, Callable[[Begun], Ended]] = {
            TargetName.KCIDB: self._to_kcidb,
            TargetName.PATCHWORK: self._to_patchwork,
            TargetName.GITHUB: self._to_github,
        }
        try:
            return ways[begun.target](begun)
        except NoAnswer as error:
            return Ended(PublicationState.WAITING, error.message)
        except MitigaugeError as error:
            return Ended(PublicationState.NOTHING, error.message)
        except Exception as error:
            if not is_away(error):
                log.exception("publication", target=str(begun.target))
            return Ended(PublicationState.WAITING, in_words(error))

    def _facts(self, begun: Begun) -> Facts:
        with transaction(self.engine) as session:
            return service.facts_of(session, begun.experiment_id, self.settings.public_url)

    def _to_kcidb(self, begun: Begun) -> Ended:
        settings = self.settings
        if not kcidb.ORIGIN.fullmatch(settings.kcidb_origin):
            why = "MITIGAUGE_KCIDB_ORIGIN has other letters than a-z, digits and _"
            return Ended(PublicationState.WAITING, why)
        body = kcidb.submission(self._facts(begun), settings.kcidb_origin)
        if not body["tests"]:
            return Ended(PublicationState.NOTHING, "no kernel that it judges was built here")
        token = {"Authorization": f"Bearer {settings.kcidb_token}"} if settings.kcidb_token else {}
        said = RestServer(settings.kcidb_url, token).post("", body)
        return _ended(said, f"{len(body['tests'])} tests")

    def _to_patchwork(self, begun: Begun) -> Ended:
        facts = self._facts(begun)
        wanted = patchwork.message_id(facts)
        if not wanted:
            return Ended(PublicationState.NOTHING, "it measures no revision with mails")
        token = {"Authorization": f"Token {self.settings.patchwork_token}"}
        server = RestServer(self.settings.patchwork_url, token)
        found = server.get("/patches/", msgid=wanted)
        patches = _objects(found)
        if not found.is_done:
            return _ended(found, "")
        if not patches:
            # It may not have read the list yet.
            return Ended(PublicationState.WAITING, f"it has no patch <{wanted}> yet")
        path = f"/patches/{int(patches[0]['id'])}/checks/"
        check = patchwork.check(facts)
        before = server.get(path, context=check["context"])
        if not before.is_done:
            # Whether it has the check is not known.
            return _ended(before, "")
        # Of several of one context the newest counts, whichever order they come in.
        same = [each for each in _objects(before) if each.get("context") == check["context"]]
        newest = max(enumerate(same), key=_number_or_place, default=(0, {}))[1]
        if all(newest.get(name) == check[name] for name in ("state", "description")):
            return Ended(PublicationState.PUBLISHED, "it has the check already")
        return _ended(server.post(path, check), f"check on patch {int(patches[0]['id'])}")

    def _to_github(self, begun: Begun) -> Ended:
        facts = self._facts(begun)
        commit = github.commit(facts)
        if not commit:
            return Ended(PublicationState.NOTHING, "no kernel that it judges is one commit alone")
        settings = self.settings
        heads = {
            "Authorization": f"Bearer {settings.github_token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": GITHUB_VERSION,
        }
        server = RestServer(settings.github_api_url, heads)
        repository = f"/repos/{quote(settings.github_repository, safe='/')}"
        known = server.get(f"{repository}/commits/{commit}/check-runs", check_name=github.NAME)
        if not known.is_done:
            return _ended(known, "")
        runs = known.body.get("check_runs", []) if isinstance(known.body, dict) else []
        with transaction(self.engine) as session:
            text = gathered(session, facts.view).markdown()
        run = github.check_run(facts, text)
        if any(_is_of(each, run) for each in runs):
            return Ended(PublicationState.PUBLISHED, "it has the check run already")
        said = server.post(f"{repository}/check-runs", run)
        return _ended(said, f"check run on {commit[:12]}")


def _number_or_place(check: tuple[int, dict[str, Any]]) -> int:
    place, kept = check
    number = kept.get("id")
    return number if isinstance(number, int) else place


def _is_of(kept: Mapping[str, Any], run: Mapping[str, Any]) -> bool:
    """Whether GitHub's check run is of that experiment and says the same."""
    output = kept.get("output")
    shown = output if isinstance(output, dict) else {}
    same = all(kept.get(name) == run[name] for name in ("external_id", "conclusion"))
    return same and all(shown.get(name) == run["output"][name] for name in run["output"])


def _objects(said: Said) -> list[dict[str, Any]]:
    """The objects of a list; none where it is none."""
    found = said.body if isinstance(said.body, list) else []
    return [each for each in found if isinstance(each, dict)]


def _ended(said: Said, what: str) -> Ended:
    if said.is_done:
        return Ended(PublicationState.PUBLISHED, what)
    if said.status in _REFUSES:
        return Ended(PublicationState.NOTHING, said.in_words)
    return Ended(PublicationState.WAITING, said.in_words)
