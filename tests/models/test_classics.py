"""Protocols of the literature get the verdicts that the literature gives them.

philosophers     Dijkstra 1971: left fork first can block all; in order cannot.  Starvation remains without, and goes
                 with, strong fairness
peterson         Peterson 1981: exclusive, and everybody enters, with weak fairness; not so without the turn, and not
                 exclusive when the turn is given first
alternating_bit  Bartlett, Scantlebury and Wilkinson 1969: all is delivered unless all is lost
lease            Gray and Cheriton 1989: a lease survives its holder's death, a lock does not
retry            finitely many faults, of unknown number: any number of retries may be too few
"""

from __future__ import annotations

import pytest

from checker import catalogue
from checker.check import check_file
from checker.options import Options
from checker.verdict import title

MODELS = catalogue.shipped(catalogue.library())

KNOWN = {
    ("philosophers", "left_first"): {"one_eats": True, "somebody_eats": False, "each_eats": False},
    ("philosophers", "ordered"): {"one_eats": True, "somebody_eats": True, "each_eats": False},
    ("philosophers_strong", "left_first"): {"one_eats": True, "somebody_eats": False, "each_eats": False},
    ("philosophers_strong", "ordered"): {"one_eats": True, "somebody_eats": True, "each_eats": True},
    ("peterson", "peterson"): {"exclusive": True, "enters": True},
    ("peterson", "without_turn"): {"exclusive": True, "enters": False},
    ("peterson", "turn_first"): {"exclusive": False},
    ("alternating_bit", "not_all_lost"): {"delivered": True, "goes_on": True},
    ("alternating_bit", "all_lost"): {"delivered": False, "goes_on": False},
    ("lease", "lease"): {"not_stuck": True, "gets_it": True},
    ("lease", "no_lease"): {"not_stuck": False, "gets_it": False},
    ("retry", "persistent"): {"written": True, "arrives": True},
    ("retry", "three_times"): {"written": False, "arrives": False},
}


@pytest.mark.parametrize(("model", "variant"), KNOWN)
def test_verdicts(model: str, variant: str) -> None:
    report = check_file(MODELS[f"classics/{model}"], Options(variants=(variant,), engine="search"))
    assert not list(report.all_failures())
    found = {result.name: title(result.verdict) for result in report.variants[0].properties}
    for name, true in KNOWN[model, variant].items():
        assert found[name] == ("PROVED" if true else "REFUTED"), name


def test_every_classic_is_tested() -> None:
    assert {name.removeprefix("classics/") for name in MODELS if name.startswith("classics/")} == {m for m, _ in KNOWN}
