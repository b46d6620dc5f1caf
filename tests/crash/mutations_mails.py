"""Mutations of what reads mails and patches, hands mails over and approves."""

from __future__ import annotations

from tests.crash.mutation import Mutation

MAIL = "tests/db/test_series_mail.py"
WATCH = "tests/db/test_series_watch.py"
DELIVERIES = "tests/db/test_deliveries.py"
ADAPTER = "tests/unit/test_mail_adapter.py"
WEEKLY = "tests/db/test_weekly.py"
HOSTILE = "tests/unit/mails/test_hostile.py"
PATCH = "tests/unit/kernels/test_patch.py"

MAILS = (
    Mutation(
        "a link in the Maildir is followed",
        "pipelines/adapters/maildir.py",
        "os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK",
        "os.O_RDONLY | os.O_NONBLOCK",
        (MAIL,),
        "Whoever delivers mail would have any file of the service read, and its text answered.",
    ),
    Mutation(
        "a mail that failed is tried for ever",
        "mitigauge/tracking/series/faults.py",
        "row.set_aside or row.failures >= most",
        "row.set_aside",
        (MAIL,),
        "200 mails that fail would keep the mail desk from all behind them.",
    ),
    Mutation(
        "a fault of this machine counts against a mail",
        "mitigauge/tracking/series/faults.py",
        "        return error.errno in OF_MACHINE\n",
        "        return False\n",
        (MAIL,),
        "A full disk would set requests aside that nobody ever read.",
    ),
    Mutation(
        "one thread's fault fails its archive",
        "pipelines/series_watch.py",
        "                if is_away(error) or ours:\n",
        "                if True:\n",
        (WATCH,),
        "One mail that is damaged would end all following of a list.",
    ),
    Mutation(
        "two senders of one mail",
        "mitigauge/reporting/deliveries/repository.py",
        "where=MailDelivery.state == DeliveryState.LATER,",
        "where=MailDelivery.state.in_(OPEN),",
        (DELIVERIES,),
        "Two workers would each send the report of one week.",
    ),
    Mutation(
        "who has a mail is sent it again",
        "mitigauge/reporting/deliveries/repository.py",
        "where=MailDelivery.state == DeliveryState.LATER,",
        "where=MailDelivery.state != DeliveryState.BEGUN,",
        (DELIVERIES,),
        "One receiver that is refused would have the others get a copy at every look.",
    ),
    Mutation(
        "a mail whose answer was lost is sent again",
        "pipelines/adapters/mail.py",
        "    if talk.sent:\n",
        "    if False:\n",
        (DELIVERIES, ADAPTER),
        "A server that hangs up after the last byte would be handed the mail again.",
    ),
    Mutation(
        "a conversation with a mail server has no end",
        "pipelines/adapters/mail.py",
        "        self.timer.start()\n",
        "",
        (ADAPTER,),
        "A server that says a byte at a time would be waited for without end.",
    ),
    Mutation(
        "a week that went by is sent as if it were the last",
        "mitigauge/reporting/letters/weekly/service.py",
        "late=row.week != last",
        "late=False",
        (WEEKLY,),
        "Readers would take an old week's report for the new one.",
    ),
    Mutation(
        "a reader of mails has no limit of time",
        "mitigauge/kernels/mails/reader.py",
        "limits=LIMITS, given=given",
        "limits=Limits(600.0, 64 << 30, 1 << 30), given=given",
        (HOSTILE,),
        "One mail would keep the mail desk for hours.",
    ),
    Mutation(
        "one mail's fault is that of all beside it",
        "mitigauge/kernels/mails/reader.py",
        "    return [_alone(raw) for raw in raws]\n",
        '    return [_unread(raw, "it") for raw in raws]\n',
        (HOSTILE,),
        "A stranger's mail in a thread would keep a whole revision from being read.",
    ),
    Mutation(
        "any charset is asked",
        "mitigauge/kernels/mails/heads.py",
        "        if not CHARSETS.fullmatch(name):\n            continue\n",
        "",
        (HOSTILE,),
        "A mail in punycode would take hours.",
    ),
    Mutation(
        "a mail may lie in a mail without end",
        "mitigauge/kernels/mails/mime.py",
        "MOST_DEEP = 8\n",
        "MOST_DEEP = 800\n",
        (HOSTILE,),
        "Parts in parts would take time by the square of their depth, and end the reader.",
    ),
    Mutation(
        "what is left of a diff is left out in silence",
        "mitigauge/kernels/diff.py",
        "        if _MEANT.match(line):\n",
        "        if False:\n",
        (PATCH,),
        "A kernel would be built without a part of its patch, and measured as if it had it.",
    ),
    Mutation(
        "a mode is read as git writes it alone",
        "mitigauge/kernels/diff.py",
        "        if mode in REGULAR:\n",
        "        if mode in REGULAR or len(mode) != 6:\n",
        (PATCH,),
        "A symbolic link would pass with one zero more before its mode.",
    ),
    Mutation(
        "an approval is of whatever stands there",
        "mitigauge/tracking/series/service.py",
        "    if seen is None:\n",
        "    seen = seen or now\n    if seen is None:\n",
        ("tests/db/test_series.py",),
        "A stranger's v3 would run as root, approved by who looked at v2.",
    ),
    Mutation(
        "a subject names a compiler cache",
        "pipelines/kernel_order.py",
        "_digest_of(patch.sha256 for patch in self.patches)",
        "self.label or self.patches[0].title",
        ("tests/unit/kernels/test_scope.py",),
        "A patch would write what the kernels of others are linked from.",
    ),
    Mutation(
        "a comparison of revisions has no bound",
        "mitigauge/tracking/series/edit_script.py",
        "        if self.left < 0:\n",
        "        if False:\n",
        ("tests/unit/series/test_edit_script.py",),
        "Two revisions of 50,000 lines would be compared for hours.",
    ),
)
