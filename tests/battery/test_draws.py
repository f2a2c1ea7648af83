"""Seeded integers: the same everywhere, uniform, and independent of each other's use."""

import hashlib
from collections import Counter
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.battery.draws import Draws


def test_a_word_is_what_its_docstring_says():
    """The first draw below 2^32 is the first 8 bytes of SHA-256 of "7/x/0", modulo 2^32."""
    word = int.from_bytes(hashlib.sha256(b"7/x/0").digest()[:8], "big")

    assert Draws(7, "x").below(2**32) == word % 2**32


@given(st.integers(1, 10**9), st.integers())
def test_draws_stay_below_their_bound(n, seed):
    assert 0 <= Draws(seed).below(n) < n


def test_orders_are_equally_likely():
    """6 orders of 3, 6,000 shuffles: each 1,000, sd 28.9; five sd either side."""
    draws = Draws(1)
    seen = Counter(tuple(draws.shuffled("abc")) for _ in range(6000))

    assert len(seen) == 6
    assert all(855 < count < 1145 for count in seen.values())


def test_a_chance_is_exact_at_its_ends():
    draws = Draws(1)

    assert not any(draws.chance(Fraction(0)) for _ in range(50))
    assert all(draws.chance(Fraction(1)) for _ in range(50))
