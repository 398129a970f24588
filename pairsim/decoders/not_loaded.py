"""A user's decoder whose module is not loaded: it can be listed, and is rejected where it would have to decide."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, ClassVar

from pairsim.decoders.base import Cost, Decoder
from pairsim.plain_text import printable
from pairsim.specs import not_loaded


@dataclasses.dataclass(frozen=True)
class NotLoaded(Decoder):
    """Stands for a decoder of which only the stored definition is known."""

    name: ClassVar[str] = "not loaded"
    summary: ClassVar[str] = "a user-defined decoder whose module is not loaded"
    repeats: ClassVar[bool] = False
    registered: ClassVar[bool] = False
    loaded: ClassVar[bool] = False

    text: str = "{}"  # the definition, as JSON

    @property
    def spec(self) -> str:
        """The decoder as it was written."""
        return printable(str(self.definition()["spec"]))

    def definition(self) -> dict[str, Any]:
        """Return what is stored."""
        found: dict[str, Any] = json.loads(self.text)
        return found

    def cost(self, n: int) -> Cost:
        raise not_loaded("store", "decoder", str(self.definition()["name"]))

    def kernel(self, n: int) -> Any:
        raise not_loaded("store", "decoder", str(self.definition()["name"]))
