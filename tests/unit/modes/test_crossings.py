"""Every crossing of two families' modes is proven exactly where each of its modes is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import pytest

from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.modes.crossing import wanted_by
from mitigauge.measurement.modes.families import Expectation, in_force

FAMILIES = Catalog().families
PAIRS = list(combinations(sorted(FAMILIES), 2))


def crossings(first: str, second: str) -> Iterator[tuple[str, tuple[Expectation, ...]]]:
    for one, other in product(FAMILIES[first].modes, FAMILIES[second].modes):
        both = FAMILIES[first].modes[one].expect, FAMILIES[second].modes[other].expect
        yield f"{first}/{one}+{second}/{other}", both


def answers(expect: Sequence[Expectation]) -> Iterator[dict[str, str]]:
    """What a kernel may say at the places where these look: each text of theirs, and another."""
    texts: dict[str, dict[str, set[str]]] = {}
    for each in expect:
        texts.setdefault(each.file, {}).setdefault(each.field, set()).add(each.equals)
    files = [[(file, said) for said in of_file(fields)] for file, fields in sorted(texts.items())]
    for said in product(*files):
        yield dict(said)


def of_file(fields: dict[str, set[str]]) -> list[str]:
    whole = sorted({*fields.get("", ()), "Something else"})
    named = [
        [name if text == name else f"{name}: {text}" for text in (*sorted(texts), "else")]
        for name, texts in sorted(fields.items())
        if name
    ]
    return [*whole, *("; ".join(said) + ";" for said in product(*named) if said)]


def holds(expect: Sequence[Expectation], said: dict[str, str]) -> bool:
    """Whether one mode alone is in force: written apart from the code that is tested."""
    places = {(e.file, e.field) for e in expect}
    return all(
        any(e.observed(said) == e.equals for e in expect if (e.file, e.field) == (file, field))
        for file, field in places
    )


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_crossing_is_in_force_where_both_of_its_modes_are(first: str, second: str) -> None:
    for name, (one, other) in crossings(first, second):
        both = [holds(one, said) and holds(other, said) for said in answers([*one, *other])]
        wanted, refused = expected_of(name)
        if refused:
            # Else two parts set the same thing, or one would show the other too: see
            # test_crossed_parts.py.
            assert "one part needs" not in refused or not any(both), name
        elif wanted:
            judged = [in_force(wanted, said) for said in answers([*one, *other])]
            assert judged == both, name
            assert any(both), name


def expected_of(name: str) -> tuple[Sequence[Expectation], str]:
    """What proves a crossing, or why it is refused."""
    try:
        return wanted_by(name, FAMILIES).expect, ""
    except ValueError as error:
        return (), str(error)


def test_what_no_state_proves_is_refused_with_both_states() -> None:
    with pytest.raises(ValueError, match=r"ibpb/on\+mitigations/off cannot be proven") as error:
        wanted_by("ibpb/on+mitigations/off", FAMILIES)
    assert "spectre_v2: IBPB: always-on" in str(error.value)
    assert "spectre_v2: IBPB: disabled" in str(error.value)
