"""No page speaks of what the service no longer has."""

from __future__ import annotations

import re

import pytest

from tests.unit.docs.pages import pages

PAGES = pages()
WENT = {
    "the cost model": r"cost model|beside real work|tables/consequences|/consequences\b",
    "lines of data": r"--data-lines|lines of data",
    "the exact flame graph": r"exact/graph|flame graph with exact totals",
    "tournaments of arms": r"tournament: true|table ID ranking|lab-bhb-variants",
    "tallies of prices": r"price (plan|send|check)\b",
    "regressions by mail": r"#mitigauge regression|Patches that close one",
    "older tables": r"`side-by-side`|experiment (loss|counters|threads|details)\b",
    "comparing two snippets": r"snippet compare",
    "feeds and the badge": r"\.atom\b|/api/feeds|badge\.svg|PUBLIC_ERROR_RATES",
    "logging in by OpenID of our own": r"MITIGAUGE_OIDC|`OIDC_",
    "point-in-time scripts": r"deploy/pitr|pitr\b",
    "limits in force": r"limits (set|judge)\b|limits in force|tab=limits",
    "forms of single chat services": r"--template",
    "weights by profiles": r"the ends' profiles differ|profiles of the ends",
    "permutation tests of trends": r"energy\.py|permutations\.py|[Pp]ermutation test",
    "basic blocks of patches": r"basic_blocks|basic\s+blocks",
}


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"CHANGELOG.md"}))
def test_a_page_says_nothing_of_what_went(name: str) -> None:
    text = PAGES[name]
    spoken = {what: match[0] for what, how in WENT.items() if (match := re.search(how, text))}
    assert spoken == {}
