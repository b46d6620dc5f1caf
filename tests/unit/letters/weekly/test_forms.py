"""The report as text, Markdown, HTML and mail: harmless, marked, and the same each time."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser

import pytest

from mitigauge.core.documents.plain_text import width
from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.bounds import Bound
from mitigauge.reporting.letters.weekly.arrangement import arrange
from mitigauge.reporting.letters.weekly.data import (
    Drift,
    FactChange,
    Gap,
    HostHours,
    NoiseLine,
    WeekData,
)
from mitigauge.reporting.letters.weekly.html import render_html
from mitigauge.reporting.letters.weekly.mail import mail
from mitigauge.reporting.letters.weekly.text import render_markdown, render_text
from tests.unit.letters.weekly.made import BEFORE, MICROCODE, NOW, WEEK, known, week_of, word

EVIL = "<script>alert(1)</script> | [x](http://y) \x1b[31m\n-- \nFrom nobody"


def a_week(name: str = "host-a") -> WeekData:
    """A week with something in every part, and hostile names in all of them."""
    data = week_of(
        word("same", 0.1, BEFORE, case=name),
        word("worse", 5, case=name),
        word("worse", 7, BEFORE, case="open"),
        known_=known(causes=[MICROCODE], name=name),
    )
    return data.model_copy(
        update={
            "not_measured": [
                Gap(
                    kind="did_not_boot", experiment_id=1, experiment=name, host=name,
                    environment="lab", what=name, reason=name, count=2, lost=True,
                )
            ],
            "drift": [
                Drift(
                    host=name, environment="lab", at=NOW, back=False,
                    changed=[FactChange(name="microcode", before=None, after=name)],
                )
            ],
            "noise": [
                NoiseLine(
                    host_class=name, emulated=True, counted=True, workload="syscall",
                    metric="time", cases=3, boot_percent=0.9, iteration_percent=None,
                    worst_percent=2.0, before_percent=0.1,
                )
            ],
            "hours": [
                HostHours(
                    host=name, environment="lab", emulated=True, runs=1, boots=8, held_s=7200,
                    measuring_s=3600, booting_s=1800, other_s=1800, wasted_s=0, lost_s=30,
                )
            ],
        }
    )  # fmt: skip


class Tags(HTMLParser):
    """Which elements and addresses a document has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            if name in ("href", "src"):
                self.links.append(value or "")


def test_the_first_line_says_what_was_compared_with_what() -> None:
    document = arrange(a_week())
    assert document.lead[0][0].text.startswith("No experiment came to a verdict this week")
    assert (
        "of comparisons 1 newly worse, 0 newly better, 1 still worse since earlier weeks"
        in document.subject
    )


def test_the_text_says_size_interval_cause_and_that_it_is_emulated() -> None:
    text = render_text(arrange(a_week()))
    flat = " ".join(text.split())
    assert "host-a: Time per call +5.0% [+4.0, +6.0], worse [emulated]" in flat
    assert "bhi/loop instead of bhi/off; ns, lower is better" in flat
    assert "before, on 2026-11-11: +0.1% [-0.9, +1.1], same" in flat
    assert "Suspected cause: changed on host-a since 2026-11-11: microcode: 0x1 → 0x2." in flat
    assert "noisier" in flat
    assert "did not boot" in flat
    assert "carries over to real hardware" in flat


def test_a_bound_is_said_to_be_one() -> None:
    week = week_of(
        word("same", 0.1, BEFORE), word("worse", 5, bound=Bound.AT_LEAST), known_=known()
    )
    flat = " ".join(render_text(arrange(week)).split())
    assert "at least +5.0% [+4.0, +6.0], worse" in flat


def test_lines_fit_a_mail_and_none_is_taken_for_its_structure() -> None:
    for line in render_text(arrange(a_week(EVIL))).splitlines():
        assert width(line) <= 78
        assert "\x1b" not in line
        assert not line.startswith(("From ", "-- "))


def test_hostile_names_are_no_markup() -> None:
    html = render_html(arrange(a_week(EVIL)), base="http://d")
    found = Tags(html)
    assert "script" not in found.tags
    assert all(link.startswith("http://d/") for link in found.links)
    marked = render_markdown(arrange(a_week(EVIL)), base="http://d")
    assert "<script" not in marked
    assert "](http://y)" not in marked.replace(r"\]", "")


def test_without_an_address_of_the_dashboard_nothing_is_linked() -> None:
    document = arrange(a_week())
    assert Tags(render_html(document)).links == []
    assert "](" not in render_markdown(document)


def test_a_week_that_is_not_over_says_so() -> None:
    document = arrange(week_of(word("worse"), complete=False))
    assert "This week is not over: figures until 2026-11-18 12:00 UTC." in render_text(document)


def a_mail(data: WeekData) -> bytes:
    made = mail(
        arrange(data), dated=WEEK.end, sender="Fleet <fleet@example.org>", to=["a@example.org"]
    )
    return made.as_bytes()


def test_the_same_week_gives_the_same_bytes_and_another_one_another_message_id() -> None:
    assert a_mail(a_week()) == a_mail(a_week())
    one, other = (
        message_from_bytes(a_mail(data), policy=policy.default)["Message-ID"]
        for data in (a_week(), week_of(word("worse", 6)))
    )
    assert one != other


def test_the_mail_has_a_plain_twin() -> None:
    message = message_from_bytes(a_mail(a_week()), policy=policy.default)
    assert isinstance(message, EmailMessage)
    assert message.get_content_type() == "multipart/alternative"
    plain, rich = message.iter_parts()
    assert plain.get_content_type() == "text/plain"
    assert rich.get_content_type() == "text/html"
    assert str(message["Message-ID"]).endswith("@example.org>")


def test_a_section_with_charts_links_to_them_once() -> None:
    document = arrange(a_week())
    [charted] = [s.id for s in document.sections if any(e.picture for e in s.entries)]
    links = Tags(render_html(document, base="http://d")).links
    assert links.count(f"http://d/weekly/{document.week}#{charted}") == 1


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is no address"):
        mail(arrange(a_week()), dated=WEEK.end, sender="nobody\nBcc: x")


def test_all_was_measured_only_where_something_was_and_nothing_is_missing() -> None:
    measured = "All that was planned and came to its end was measured."
    whole = a_week()
    missing = whole.not_measured
    assert measured not in render_text(arrange(whole))
    whole = whole.model_copy(update={"not_measured": []})
    assert measured in render_text(arrange(whole))
    idle = whole.model_copy(update={"hours": []})
    assert measured not in render_text(arrange(idle))
    assert "No run came to its end." in render_text(arrange(idle))
    assert missing
