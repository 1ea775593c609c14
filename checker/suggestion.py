"""Did you mean?"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggest(name: str, known: Iterable[str], what: str) -> str | None:
    """A hint for a name that is not known: the likeliest of the known ones, or the list of them; None if there are
    none.  `what` is the plural of what they are (`variants`)."""
    names = sorted(set(known))
    if not names:
        return None
    folded = {candidate.casefold(): candidate for candidate in names}
    close = get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    close += [candidate for candidate in folded if name and name.casefold() in candidate and candidate not in close]
    if close:
        return f"did you mean {' or '.join(repr(folded[candidate]) for candidate in close[:3])}?"
    shown = ", ".join(names[:12])
    return f"{what}: {shown}" + (f", and {len(names) - 12} more" if len(names) > 12 else "")
