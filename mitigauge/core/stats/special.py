"""Special functions, as SciPy names them; SciPy is loaded when one is first asked for.

It takes longer to load than most commands take to answer, and few of them compute anything.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    return getattr(special, name)
