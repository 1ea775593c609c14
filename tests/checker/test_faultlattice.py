"""The bookkeeping of fault sets, against sets written out by hand and random ones against the plain definition."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from checker.needs.lattice import MOST_CLASSES, FaultLattice, maximal, minimal


def test_a_breaking_set_settles_what_contains_it_and_a_safe_one_what_it_contains() -> None:
    lattice = FaultLattice(3)
    lattice.breaks(0b011)
    lattice.holds(0b100)
    assert [mask for mask in range(8) if lattice.is_breaking(mask)] == [0b011, 0b111]
    assert [mask for mask in range(8) if lattice.is_safe(mask)] == [0b000, 0b100]
    assert [mask for mask in range(8) if lattice.is_open(mask)] == [0b001, 0b010, 0b101, 0b110]
    assert lattice.highest() == 0b101
    assert lattice.lowest() == 0b001


def test_a_set_that_was_given_up_is_undecided_and_asked_no_more() -> None:
    lattice = FaultLattice(2)
    lattice.holds(0b01)
    lattice.give_up(0b11)
    assert lattice.highest() == 0b10
    lattice.give_up(0b10)
    assert lattice.highest() is None
    assert lattice.undecided() == (0b10,)


def test_what_is_said_of_a_set_goes_for_its_orbit() -> None:
    """Classes 0 and 1 may change places, classes 2 and 3 may."""
    lattice = FaultLattice(4, [(1, 0, 2, 3), (0, 1, 3, 2)])
    assert [lattice.representative(mask) for mask in (0b0000, 0b0010, 0b1010, 0b1100, 0b1011)] == [0, 1, 0b0101, 12, 7]
    assert [lattice.orbit(mask) for mask in (0b0000, 0b0010, 0b1010, 0b1100, 0b1011)] == [1, 2, 4, 1, 2]
    lattice.breaks(0b1010)
    assert all(lattice.is_breaking(mask) for mask in (0b0101, 0b0110, 0b1001, 0b1010, 0b0111, 0b1111))
    assert not any(lattice.is_breaking(mask) for mask in (0b0011, 0b1100, 0b0001))
    assert lattice.minimal_breaking() == (0b0101,)
    lattice.holds(0b1000)
    assert [mask for mask in range(16) if lattice.is_safe(mask)] == [0b0000, 0b0100, 0b1000]
    assert lattice.maximal_safe() == (0b0100,)
    assert lattice.highest() == 0b0011
    lattice.give_up(0b1100)
    lattice.expect(0b0010)
    assert [mask for mask in range(16) if lattice.is_expected(mask)] == [0b0000, 0b0001, 0b0010]
    assert lattice.lowest() == 0b0001
    lattice.give_up(0b0010)
    assert lattice.lowest() == 0b0011
    assert lattice.undecided() == (0b0001, 0b1100)  # 0b0010 is like the first
    with pytest.raises(ValueError, match="both breaking and safe"):
        lattice.holds(0b0110)


def test_orbits_of_random_exchanges() -> None:
    """Against all products of the exchanges, one after the other, until nothing new comes."""
    draw = random.Random(7)
    for _ in range(20):
        size = 2 + draw.randrange(5)
        exchanges = []
        for _ in range(1 + draw.randrange(3)):
            one, other = draw.sample(range(size), 2)
            exchanges.append(tuple({one: other, other: one}.get(bit, bit) for bit in range(size)))
        lattice = FaultLattice(size, exchanges)
        for mask in range(1 << size):
            orbit = {mask}
            while True:
                more = {sum(1 << e[bit] for bit in range(size) if m >> bit & 1) for m in orbit for e in exchanges}
                if more <= orbit:
                    break
                orbit |= more
            assert lattice.representative(mask) == min(orbit)
            assert lattice.orbit(mask) == len(orbit)


def test_no_class_at_all() -> None:
    lattice = FaultLattice(0)
    assert lattice.full == 0
    assert lattice.highest() == 0
    lattice.holds(0)
    assert lattice.maximal_safe() == (0,)
    assert lattice.highest() is None


def test_a_contradiction_is_refused() -> None:
    lattice = FaultLattice(2)
    lattice.holds(0b11)
    with pytest.raises(ValueError, match="both breaking and safe"):
        lattice.breaks(0b01)


def test_too_many_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="more than"):
        FaultLattice(MOST_CLASSES + 1)


def test_minimal_and_maximal_by_hand() -> None:
    assert minimal([0b111, 0b011, 0b100, 0b011]) == (0b100, 0b011)
    assert maximal([0b001, 0b011, 0b100, 0b011]) == (0b011, 0b100)


def test_random_families_against_the_definition() -> None:
    draw = random.Random(7)
    for _ in range(100):
        size = draw.randrange(1, 6)
        every = [frozenset(c) for n in range(size + 1) for c in combinations(range(size), n)]
        family = [draw.choice(every) for _ in range(draw.randrange(1, 4))]
        lattice = FaultLattice(size)
        for each in family:
            lattice.breaks(sum(1 << bit for bit in each))
        breaking = {s for s in every if any(each <= s for each in family)}
        least = {s for s in breaking if not any(other < s for other in breaking)}
        assert {frozenset(b for b in range(size) if mask >> b & 1) for mask in lattice.minimal_breaking()} == least
        left = [s for s in every if s not in breaking]
        highest = lattice.highest()
        if left:
            assert highest is not None
            assert highest.bit_count() == max(map(len, left))
        else:
            assert highest is None
