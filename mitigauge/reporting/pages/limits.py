"""How much a page shows at once."""

from __future__ import annotations

from typing import Final

PAGE_SIZE: Final = 50

# Rows of values that one answer holds; with their cases and boots some 50 MB.
WHOLE_ROWS: Final = 50_000
