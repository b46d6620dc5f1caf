"""What is known of a mail."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.mails.addresses import addresses_in
from mitigauge.kernels.mails.heads import words_of

LARGEST_MAIL = 4 << 20
LONGEST_ADDRESS = 2000


@dataclass(frozen=True, slots=True)
class Address:
    """A name, which may be empty, and an address in small letters."""

    name: str
    address: str

    @property
    def written(self) -> str:
        """``Name <address>``, or the address alone."""
        return f"{self.name} <{self.address}>" if self.name else self.address


NOBODY = Address("", "")


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail; ids without ``<>``. *fault*: why it could not be read; then nothing else is said.

    *left_out*: what of it was not read, in words. *kinds*: the types of its parts. *heads*: of
    those that say which program sent it, names in small letters.
    """

    message_id: str = ""
    parent: str = ""
    references: tuple[str, ...] = ()
    subject: str = ""
    sender: Address = NOBODY
    sent_at: datetime | None = None
    to: tuple[Address, ...] = ()
    cc: tuple[Address, ...] = ()
    body: str = ""
    raw: bytes = field(default=b"", repr=False, compare=False)
    attached: tuple[str, ...] = ()
    """Further parts of text, as a patch is attached."""
    left_out: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    heads: tuple[tuple[str, str], ...] = ()
    fault: str = ""

    @property
    def named(self) -> str:
        """What errors call it."""
        return self.message_id or repr(self.subject[:60])

    def is_from(self, other: Mail) -> bool:
        """Whether the same person sent both; a head that names nobody is not the same as another.

        Files without any such head were sent by nobody at all, and are alike.
        """
        if self.sender.address or other.sender.address:
            return self.sender.address == other.sender.address
        return self is other or not (self.values("from") or other.values("from"))

    def values(self, name: str) -> list[str]:
        """What its heads of that name say; *name* in small letters."""
        return [value for said, value in self.heads if said == name]


def address_of(text: str) -> Address | None:
    """The first address in *text*, as ``Name <address>`` or alone; None where there is none."""
    for shown, address in addresses_in(text[:LONGEST_ADDRESS]):
        return Address(clean_text(" ".join(words_of(shown).split()))[:120], address)
    return None
