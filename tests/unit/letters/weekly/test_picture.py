"""Small pictures of values, as those who get them see them."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from PIL import Image

from mitigauge.reporting.letters.weekly.document import Picture, Point
from mitigauge.reporting.letters.weekly.picture import (
    BAND,
    CHANGE,
    FAINT,
    HEIGHT,
    LINE,
    PAPER,
    WIDTH,
    png,
)
from tests.unit.letters.weekly.made import NOW

Colour = tuple[int, int, int]
# Left of it stand labels of values, below it those of dates.
AXIS, FLOOR = 60, HEIGHT - 14


def a_picture(
    *values: float, half: float | None = 0.5, zero: bool = True, changed: float | None = None
) -> Picture:
    """A value a day with an interval of *half* to both sides; *changed* after so many days."""
    points = [
        Point(
            at=NOW + timedelta(days=at),
            value=value,
            low=None if half is None else value - half,
            high=None if half is None else value + half,
        )
        for at, value in enumerate(values)
    ]
    at = None if changed is None else NOW + timedelta(days=changed)
    return Picture(id="p", title="t", unit="%", points=points, zero=zero, changed_at=at)


def seen(picture: Picture) -> Image.Image:
    """The picture as a reader decodes it."""
    image = Image.open(io.BytesIO(png(picture)))
    assert (image.format, image.mode, image.size) == ("PNG", "RGB", (WIDTH, HEIGHT))
    image.load()
    return image


def places(image: Image.Image, *colours: Colour) -> list[tuple[int, int]]:
    """Where the picture has one of these colours, unmixed with the paper."""
    return [
        (x, y) for x in range(WIDTH) for y in range(HEIGHT) if image.getpixel((x, y)) in colours
    ]


def heights(image: Image.Image, *colours: Colour) -> int:
    """Rows from the first to the last one with these colours."""
    rows = [y for _, y in places(image, *colours)]
    return max(rows) - min(rows) + 1


def inked(image: Image.Image, box: tuple[int, int, int, int]) -> tuple[int, int, int, int] | None:
    """What of a part is not blank: left, top, right and bottom within it."""
    part = image.crop(box)
    blank = Image.new("RGB", part.size, PAPER)
    return None if part.tobytes() == blank.tobytes() else _box(part)


def _box(part: Image.Image) -> tuple[int, int, int, int] | None:
    return part.convert("L").point([255] * 255 + [0]).getbbox()


def test_the_same_values_are_the_same_bytes_whatever_their_order() -> None:
    picture = a_picture(1, 2, 3, changed=1)
    turned = picture.model_copy(update={"points": picture.points[::-1]})
    assert png(picture) == png(picture.model_copy(deep=True)) == png(turned)
    assert png(picture) != png(a_picture(3, 2, 1, changed=1))


def test_a_picture_shows_values_intervals_and_where_nought_is() -> None:
    image = seen(a_picture(1, 2, 3))
    assert min(len(places(image, colour)) for colour in (LINE, BAND, FAINT)) > 20
    assert not places(seen(a_picture(1, 2, 3, zero=False)), FAINT)
    assert not places(seen(a_picture(1, 2, 3, half=None)), BAND)


def test_higher_values_stand_higher() -> None:
    found = places(seen(a_picture(1, 5, half=None)), LINE)
    left, right = min(found), max(found)
    assert right[0] - left[0] > 200
    assert left[1] - right[1] > 40


def test_a_change_is_marked_between_the_values_around_it_and_nowhere_else() -> None:
    assert not places(seen(a_picture(1, 2, 9)), CHANGE)
    found = places(seen(a_picture(1, 2, 9, changed=2)), CHANGE)
    middle = (64 + 3 * (WIDTH - 10)) / 4
    assert found
    assert {abs(x - middle) < 2 for x, _ in found} == {True}


@pytest.mark.parametrize(("changed", "at"), [(-1, 64), (0, 64), (9, WIDTH - 10)])
def test_a_change_before_or_after_all_values_is_marked_at_that_end(changed: int, at: int) -> None:
    found = places(seen(a_picture(1, 2, 3, half=None, changed=changed)), CHANGE)
    assert {abs(x - at) < 2 for x, _ in found} == {True}


def test_an_interval_that_would_flatten_the_values_is_cut() -> None:
    image = seen(a_picture(1, 2, half=1e9))
    assert heights(image, BAND, LINE) >= HEIGHT - 18 - 8 - 1
    assert heights(image, LINE) > 8
    assert png(a_picture(1, 2, half=1e9)) == png(a_picture(1, 2, half=1e6))


def test_no_points_leave_a_blank_paper() -> None:
    image = seen(a_picture(changed=1))
    assert inked(image, (0, 0, WIDTH, HEIGHT)) is None


def test_one_point_is_a_dot_with_one_date() -> None:
    image = seen(a_picture(5))
    assert places(image, LINE)
    assert max(x for x, _ in places(image, LINE)) < 70
    assert inked(image, (AXIS, FLOOR, 130, HEIGHT)) is not None
    assert inked(image, (130, FLOOR, WIDTH, HEIGHT)) is None
    two_days = seen(a_picture(5, 5))
    assert inked(two_days, (WIDTH // 2, FLOOR, WIDTH, HEIGHT)) is not None


@pytest.mark.parametrize("value", [0.0, 3.0, -7.5, 1e300, 1e-12, 5e-324])
def test_values_that_are_all_the_same_are_a_level_line(value: float) -> None:
    image = seen(a_picture(value, value, value, half=None, zero=False))
    assert 1 <= heights(image, LINE) < 7
    assert abs(min(y for _, y in places(image, LINE)) - (8 + HEIGHT - 18) / 2) < 5


@pytest.mark.parametrize("zero", [True, False])
@pytest.mark.parametrize(
    "values",
    [(1e300, -1e300), (1e-12, 2e-12), (-1e-12, 1e-12), (1e300, 1e-12), (-1.05e-300, 0), (2e5, 3e5)],
)
def test_values_of_any_size_are_drawn_and_their_labels_fit(
    values: tuple[float, float], zero: bool
) -> None:
    image = seen(a_picture(*values, half=None, zero=zero))
    assert heights(image, LINE) > 20
    for top, bottom in ((0, HEIGHT // 2), (HEIGHT // 2, HEIGHT)):
        box = inked(image, (0, top, AXIS, bottom))
        assert box is not None
        assert box[0] > 0
        assert 12 < box[2] - box[0] < AXIS
        assert 6 <= box[3] - box[1] <= 11


def test_only_effects_are_labelled_with_a_sign() -> None:
    def widest(zero: bool) -> int:
        box = inked(seen(a_picture(0, 4, half=None, zero=zero)), (0, 0, AXIS, HEIGHT // 2))
        assert box is not None
        return box[2] - box[0]

    assert widest(True) - widest(False) > 4
