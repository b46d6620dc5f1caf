"""How much a page shows at once."""

from __future__ import annotations

from typing import Final

PAGE_SIZE: Final = 50
