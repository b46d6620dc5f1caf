"""One rate of errors as a small picture for a page elsewhere. Pure: it has nothing else in it."""

from __future__ import annotations

from html import escape

from mitigauge.core.hostile_text import clean_text
from mitigauge.reporting.pages.error_rates import ErrorRate

HEIGHT = 20
# A sign of 11 px in the fonts named is about so wide; the text is fitted to what is left for it.
SIGN_PX = 6.4
PADDING_PX = 7
LONGEST_TEXT = 60
LEFT, RIGHT, INK = "#444c4e", "#17605f", "#ffffff"


def badge_of(rate: ErrorRate) -> str:
    """SVG: ``confirmed false | 1 of 40 [0.1, 13 %]``; a rate of nothing is *none yet*."""
    label = f"{rate.badge}, emulated" if rate.emulated else rate.badge
    return draw_badge(label, words_of(rate))


def words_of(rate: ErrorRate) -> str:
    """``1 of 40 [0.1, 13 %]``, with its exact 95 % interval."""
    if rate.low is None or rate.high is None:
        return "none yet"
    return f"{rate.wrong} of {rate.of} [{rate.low:.2g}, {rate.high:.2g} %]"


def draw_badge(label: str, words: str) -> str:
    """Both texts side by side, escaped and cut to 60 signs each."""
    label, words = (clean_text(each)[:LONGEST_TEXT] for each in (label, words))
    left, right = _width(label), _width(words)
    said = escape(f"{label}: {words}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" '
        f'role="img" aria-label="{said}"><title>{said}</title>'
        f'<rect width="{left}" height="{HEIGHT}" fill="{LEFT}"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{RIGHT}"/>'
        f'<g fill="{INK}" font-family="DejaVu Sans,Verdana,Geneva,sans-serif" font-size="11">'
        f"{_text(label, PADDING_PX, left)}{_text(words, left + PADDING_PX, right)}"
        "</g></svg>\n"
    )


def _width(text: str) -> int:
    return round(len(text) * SIGN_PX) + 2 * PADDING_PX


def _text(text: str, x: int, width: int) -> str:
    return (
        f'<text x="{x}" y="14" textLength="{width - 2 * PADDING_PX}">{escape(text, quote=False)}'
        "</text>"
    )
