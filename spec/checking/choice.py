"""The choice of a variant, constants and switches for which a model is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Choice:
    """variant: its name, None for the defaults.  constants (`-D name=text`) and switches (`--with name=text`; the empty
    text means true) override the variant."""

    variant: str | None = None
    constants: Mapping[str, str] = field(default_factory=dict)
    switches: Mapping[str, str] = field(default_factory=dict)
