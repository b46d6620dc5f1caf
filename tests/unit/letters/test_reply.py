"""The answer to a revision, as its receivers see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller

from mitigauge.core.clock import Clock
from mitigauge.core.documents.plain_text import width
from mitigauge.core.effect import Verdict
from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.letters.reply.cover_letter import Finding
from mitigauge.reporting.letters.reply.reply import (
    Addressees,
    Besides,
    BuiltKernel,
    lead_cells,
    mail,
    reproduce,
    sentence,
)
from mitigauge.reporting.letters.report.matrix import render_text
from mitigauge.reporting.pages.schemas import ComparisonView, ExperimentView, HostFacts
from pipelines.adapters.mail import NotSent, send
from tests.mail_server import mail_server
from tests.matrix_views import (
    DEMO,
    HOSTILE,
    PARTIAL,
    SYSCALL,
    SYSCALL_ROW,
    arm,
    baseline,
    hostile,
    measured,
    row,
    run,
    view,
)

ANSWERED = Addressees(
    label="v2",
    title="x86/vmscape: Clear it",
    subject="[PATCH v2 0/8] x86/vmscape: Clear it",
    message_id="v2-0@example.org",
    references=["v1-0@example.org", "v2-0@example.org"],
    to=["Author One <one@example.org>", "list@example.org"],
    cc=["Zwei Ä <zwei@example.org>"],
    reported_by="A Robot <robot@example.com>",
    own_id="toys.v2.7",
)
RELEASE = "7.2.12-mg01234567890123456789012345678901"
KERNEL = BuiltKernel(RELEASE, "linux-source-7.2 7.2.12-1", ["a", "b"], "lab", "gcc-14", "ab" * 20)
SENDER = "A Robot <robot@example.com>"


def since(verdict: Verdict, effect: float) -> ExperimentView:
    """One revision against the one before it."""
    arms = [
        arm(1, "before", "vmscape/bhb-clear", kernel=RELEASE, is_baseline=True),
        arm(2, "this", "vmscape/bhb-clear", kernel="7.2-b", cmdline="vmscape=on",
            expected=["vmscape: Mitigation: Clear BHB"]),
    ]  # fmt: skip
    cells = [baseline(300.0), measured(2, effect, effect - 0.05, effect + 0.05, verdict)]
    comparison = ComparisonView(
        id=1, name="since-before", family_title="VMSCAPE", hosts=["icx-1"], arms=arms,
        rows=[row("syscall getpgid", cells, **SYSCALL_ROW)], emulated=False,
    )  # fmt: skip
    return view([comparison], [run("since-before", "icx-1")], boots_total=8)


def answer(
    of: ExperimentView,
    *,
    sender: str = SENDER,
    **changes: object,
) -> EmailMessage:
    questions = [Finding(3, "interval", "No figure has an interval.")]
    answered = Addressees(**{**{n: getattr(ANSWERED, n) for n in Addressees.__slots__}, **changes})
    report = render_text(of, within_mail=True)
    by_hand = {"syscall": "perf bench syscall"}
    return mail(answered, of, report, [KERNEL], by_hand, questions, sender=sender)


def text(of: ExperimentView, **changes: object) -> str:
    return str(answer(of, **changes).get_content())


def test_an_emulated_figure_is_called_so_beside_it_and_explained_before_the_others() -> None:
    said = text(DEMO)
    head, _, rest = said.partition("\n\nThese hosts are emulated")
    assert "(AMD EPYC-Rome Processor, emulated)" in head
    assert "undecided (4 boots" in rest
    assert len(head.splitlines()) <= 8


def test_what_limits_say_is_a_line_of_its_own_and_without_limits_there_is_none() -> None:
    """One that is hostile is no markup and no mail's structure."""
    said = "limits: 1 broken of 4: syscall at most 101 ns: " + HOSTILE
    message = mail(ANSWERED, SYSCALL, "", [KERNEL], {}, [], besides=Besides(said), sender=SENDER)
    body = str(message.get_content())
    assert "\nlimits: 1 broken of 4: " in body
    assert "\x1b" not in body
    assert max(map(width, body.splitlines())) <= 76
    assert "\nlimits: " not in text(SYSCALL)


def test_it_answers_the_first_mail_of_its_thread() -> None:
    message = answer(SYSCALL)
    assert message["Subject"] == "Re: [PATCH v2 0/8] x86/vmscape: Clear it"
    assert message["In-Reply-To"] == "<v2-0@example.org>"
    assert message["References"] == "<v1-0@example.org> <v2-0@example.org>"
    assert message["To"] == "Author One <one@example.org>, list@example.org"
    assert message["Cc"].addresses[0].display_name == "Zwei Ä"
    assert message["Message-ID"] == "<toys.v2.7@example.com>"


@pytest.mark.parametrize("of", [SYSCALL, PARTIAL, since(Verdict.WORSE, 8.1)])
def test_it_is_plain_text_of_a_mail_s_width_and_reads_back(of: ExperimentView) -> None:
    message = answer(of)
    assert message.get_content_type() == "text/plain"
    assert message["Content-Transfer-Encoding"] == "8bit"
    assert [line for line in text(of).splitlines() if width(line) > 80] == []
    read = message_from_bytes(message.as_bytes(), policy=policy.default)
    assert read.get_content().replace("\r\n", "\n") == text(of)


def test_the_worst_row_comes_first_with_baseline_host_interval_verdict_and_count() -> None:
    first, *_ = lead_cells(SYSCALL)
    assert sentence(first) == (
        "syscall basic, loop against off on icx-1: +18.3% [+12.9, +23.9], worse (4 boots)"
    )
    assert "getpgid" in sentence(lead_cells(SYSCALL)[-1])


def test_an_undecided_row_says_what_would_have_shown() -> None:
    [each] = lead_cells(since(Verdict.UNDECIDED, 0.2))
    assert "undecided (4 boots; a difference from 3.1 % on would show)" in sentence(each)


def test_a_revision_that_is_worse_than_the_one_before_has_tags_for_its_mend() -> None:
    said = text(since(Verdict.WORSE, 8.1))
    assert "  | Reported-by: A Robot <robot@example.com>\n" in said
    assert "  | Closes: https://lore.kernel.org/r/toys.v2.7@example.com\n" in said
    assert '  #regzbot introduced: COMMIT ("x86/vmscape: Clear it")\n' in said


def test_without_a_sender_it_is_a_draft_whose_link_is_not_known() -> None:
    message = answer(since(Verdict.WORSE, 8.1), sender="", reported_by="")
    assert message["From"] is None
    assert message["Message-ID"] is None
    assert "| Closes: the link of this mail" in str(message.get_content())


@pytest.mark.parametrize("of", [SYSCALL, since(Verdict.SAME, 0.0), since(Verdict.BETTER, -3.0)])
def test_a_mode_that_costs_and_a_revision_that_does_not_are_no_regression(
    of: ExperimentView,
) -> None:
    assert "regzbot" not in text(of)
    assert "Reported-by" not in text(of)


def test_arms_that_differ_in_their_kernel_alone_are_told_together() -> None:
    of = since(Verdict.SAME, 0.0)
    [comparison] = of.comparisons
    like = {"cmdline": "vmscape=on", "expected": ["vmscape: Mitigation: Clear BHB"]}
    arms = [each.model_copy(update=like) for each in comparison.arms]
    # Two more of the same name, as other comparisons have them; one boots a kernel of the host.
    arms += [
        arms[1].model_copy(update={"id": number, "kernel": kernel})
        for number, kernel in ((3, "7.2-c"), (4, ""))
    ]
    same = of.model_copy(update={"comparisons": [comparison.model_copy(update={"arms": arms})]})
    built = [replace(KERNEL, release=release) for release in (RELEASE, "7.2-b", "7.2-c")]
    said = " ".join("\n".join(reproduce(same, built, {})).split())
    assert "Boot before, this, this (kernel of the host): command line plus vmscape=on; sh" in said
    assert said.count("Boot ") == 1
    assert said.count("Kernel Debian's linux-source-7.2 7.2.12-1, configuration lab, gcc-14") == 1
    assert "before: 2 patches, 7.2.12-mg012345678901, build id abababababab this: 2 p" in said


def test_how_to_repeat_it_has_kernel_command_line_proof_and_workload() -> None:
    said = " ".join(text(since(Verdict.SAME, 0.0)).split())
    assert "Kernel Debian's linux-source-7.2 7.2.12-1, configuration lab, gcc-14" in said
    assert "before: 2 patches, 7.2.12-mg012345678901, build id abababababab Boot before: " in said
    assert "Boot this (kernel 7.2-b): command line plus vmscape=on; shows vmscape: Mitig" in said
    assert "Run syscall: perf bench syscall" in said


def test_the_letter_s_own_figures_are_asked_about() -> None:
    assert "  - line 3: No figure has an interval." in text(SYSCALL)


def test_an_answer_says_so_when_nothing_counts() -> None:
    assert "Worse?  cannot tell: no boot counts" in text(PARTIAL)


def test_hostile_words_forge_no_head_and_no_structure() -> None:
    evil = "x\r\nBcc: all@example.net"
    message = answer(hostile(), title=HOSTILE, subject=evil, to=[f"{HOSTILE} <a@example.org>"])
    raw = message.as_bytes()
    head = raw.split(b"\r\n\r\n", 1)[0]
    assert b"\nBcc:" not in head
    assert b"\x1b" not in raw
    body = str(message.get_content())
    assert "\u202e" not in body
    assert not any(line.startswith(("diff --git", "From ")) for line in body.splitlines())


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"message_id": ""}, "no message-id"), ({"to": ["nobody"]}, "names nobody to answer")],
)
def test_who_cannot_be_answered_is_said(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        answer(SYSCALL, **changes)


def test_a_sender_that_is_no_address_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is no address"):
        answer(SYSCALL, sender="robot")


@pytest.fixture
def server() -> Iterator[Controller]:
    with mail_server() as served:
        yield served


def address(server: Controller) -> str:
    return f"127.0.0.1:{server.port}"


def test_a_real_server_gets_the_mail_whole(server: Controller) -> None:
    send(answer(SYSCALL), address(server), encrypted=False)
    [got] = server.handler.mails
    assert got["In-Reply-To"] == "<v2-0@example.org>"
    assert "one@example.org" in got["X-RcptTo"]
    assert "zwei@example.org" in got["X-RcptTo"]


def test_a_server_without_encryption_gets_nothing_unless_told_so(server: Controller) -> None:
    with pytest.raises(NotSent, match="STARTTLS"):
        send(answer(SYSCALL), address(server))
    assert server.handler.mails == []


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(NotSent, match=r"127.0.0.1:1 did not take the mail"):
        send(answer(SYSCALL), "127.0.0.1:1", encrypted=False)


TEN = (
    "worse than asked, this revision: Vulnerable, but Mitigation: IBPB before exit to userspace "
    "with vmscape=force: mitigations=auto,no_guest_host vmscape=force on Zen 2; and 13 more",
    "VMSCAPE: 320 of 320 cells proven on emulated processors",
    "patch 4 'x86/vmscape: Clear the branch history': exactly +55 instructions an operation of "
    "syscall getpgid (do_syscall_64 +55)",
    "  predicted for Skylake (Xeon): +31.4 ns [+25.1, +40.8]",
    "  predicted for Zen 2 (Rome): +24.0 ns [+20.2, +28.8]",
    "patch 7 interacts with patch 3: +20 instructions an operation of syscall getpgid on icx-1 in "
    "its place, +6 alone on the base",
    "patches 1-3, 5-6, 8-10: nothing in any of these cases, by exact counts",
    "all patches: exactly +75 instructions an operation of syscall getpgid on icx-1; each alone on "
    "the base, they add up to +61, which is not that",
)


def kept(name: str) -> str:
    return (Path(__file__).parents[2] / "fixtures" / "reply" / name).read_text()


def expect_an_answer_that_is_read_whole(said: str) -> None:
    assert len(said.splitlines()) <= 60
    assert [line[:8].strip() for line in said.splitlines()[:3]] == ["Worse?", "Where?", "Sure?"]
    assert max(map(width, said.splitlines())) <= 80
    # Quoted without marks, none of its lines asks for anything.
    assert not any(line.startswith("#mitigauge") for line in said.splitlines())


def test_the_answer_to_ten_patches_is_the_one_that_is_kept() -> None:
    """A person reads it whole: its first three lines are the answer, and it ends within 60."""
    of = since(Verdict.WORSE, 8.1)
    message = mail(
        ANSWERED, of, render_text(of, within_mail=True),
        [KERNEL, replace(KERNEL, release="7.2-b", patches=["a"] * 10)],
        {"syscall": "perf bench syscall getpgid"}, [], besides=Besides(studies=TEN),
        sender=SENDER,
    )  # fmt: skip
    said = str(message.get_content())
    assert said == kept("ten-patches.txt")
    expect_an_answer_that_is_read_whole(said)


# As the lab's answered one mail about ten patches, of which one costs and one chooses wrongly.
ONE_MAIL = (
    "worse than asked, this revision: Vulnerable, but SW loop, KVM: SW loop with spectre_bhi=on: "
    "mitigations=off spectre_bhi=on on Ice Lake; mitigations=auto,no_guest_host spectre_bhi=on on "
    "Ice Lake",
    "worse than asked, this revision: Vulnerable, but Retpoline with spectre_bhi=on: "
    "mitigations=off spectre_bhi=on on Ice Lake, retpolines",
    "weaker than before, this revision: SW loop, KVM: SW loop before, Vulnerable now: in 3 of "
    "those too",
    "Branch History Injection: 128 of 128 cells proven on emulated processors",
    "patch 2 'x86/entry: Leave room at each system call': exactly +4 instructions an operation of "
    "syscall basic (do_syscall_64 +4)",
    "  predicted for Intel Alder Lake, efficient core: +0.8 ns [+0.3, +1.2]",
    "  predicted for Intel Alder Lake, performance core: +0.7 ns [+0.2, +1.2]",
    "patches 1, 3-10: nothing in any of these cases, by exact counts",
    "all patches: exactly +4 instructions an operation of syscall basic on lab-intel; each alone "
    "on the base, they add up to as many",
)


def test_an_answer_of_emulated_hosts_ends_within_sixty_lines_too() -> None:
    like = {
        "cmdline": "setcpuid=ibrs_enhanced spectre_v2=eibrs pti=off spectre_bhi=on",
        "expected": ["spectre_v2: BHI: SW loop, KVM: SW loop or spectre_v2: BHI: SW loop"],
    }
    of = since(Verdict.WORSE, 0.98)
    [comparison] = of.comparisons
    [told] = comparison.rows
    first, cell = told.cells
    told = told.model_copy(
        update={"cells": [first, cell.model_copy(update={"notes": ["real, yet within ±1 %"]})]}
    )
    arms = [each.model_copy(update=like) for each in comparison.arms]
    emulated = {"arms": arms, "rows": [told], "emulated": True, "counted": True}
    facts = HostFacts(
        name="icx-1", processor="Intel Xeon Processor (Icelake)", emulated=True,
        host_class="QEMU TCG Icelake-Server, 1 vCPU, counted time", clock=Clock.COUNTED,
        microcode="0x1", kernels=[RELEASE, "7.2-b"],
    )  # fmt: skip
    of = of.model_copy(
        update={
            "comparisons": [comparison.model_copy(update=emulated)],
            "host_facts": {"icx-1": facts},
        }
    )
    toolchain = "debian-trixie: gcc-14 14.2.0-19, binutils 2.44-3"
    one = replace(KERNEL, patches=[], toolchain=toolchain)
    by_hand = "taskset -c CPU perf bench syscall basic|getpgid|fork|execve --loop N, once a boot"
    message = mail(
        ANSWERED, of, render_text(of, within_mail=True), [one, replace(one, release="7.2-b")],
        {"syscall": f"{by_hand} and more"}, [], besides=Besides(studies=ONE_MAIL),
        sender=SENDER,
    )  # fmt: skip
    said = str(message.get_content())
    assert said == kept("one-mail.txt")
    expect_an_answer_that_is_read_whole(said)
