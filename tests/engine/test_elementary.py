"""The elementary functions are right to the last digits and, unlike those of C libraries, always the same."""

import hashlib
import math
import random
from decimal import Decimal, localcontext

import numpy as np
import pytest

from engine.elementary import cosine_and_sine, exponential, logarithm


def uniforms(seed, count=4000):
    """Numbers k/2⁵³ above 0, at most 1, made without the functions under test."""
    words = random.Random(seed).randbytes(8 * count)
    return np.array(
        [((int.from_bytes(words[i : i + 8], "little") >> 11) + 1) / 2**53 for i in range(0, 8 * count, 8)]
    )


def decimal(method, values):
    """Return a function of `decimal`, which rounds correctly at 40 digits, of each value."""
    with localcontext(prec=40):
        return [getattr(Decimal(value), method)() for value in values.tolist()]


def ulps(found, expected):
    """Return the greatest distance of `found` from the true values, in units in the last place."""
    pairs = zip(found.tolist(), expected, strict=True)
    return max(abs(Decimal(f) - e) / Decimal(math.ulp(float(e))) for f, e in pairs)


def digest(values):
    return hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()[:16]


def test_the_logarithm_is_within_three_units_in_the_last_place():
    u = np.concatenate(
        [uniforms(1), [2.0**-53, 1e-300, 1e-9, 0.25, 0.5, 0.7071067811865476, 0.9999999, 3.0, 1e300]]
    )
    assert ulps(logarithm(u), decimal("ln", u)) < 3
    assert logarithm(np.array([1.0])).tolist() == [0.0]


def test_the_exponential_is_within_two_units_in_the_last_place():
    x = np.concatenate(
        [12 * uniforms(2) - 6, 1400 * uniforms(3) - 700, [1e-300, -1e-9, 0.34657359, 0.34657360]]
    )
    assert ulps(exponential(x), decimal("exp", x)) < 2


def test_the_exponential_ends_at_zero_and_infinity_without_a_warning():
    x = np.array([-math.inf, -1e9, -746.0, 0.0, 710.0, 1e9, math.inf])
    assert exponential(x).tolist() == [0.0, 0.0, 0.0, 1.0, math.inf, math.inf, math.inf]


def test_cosine_and_sine_go_round_the_circle():
    turns = np.arange(-8, 9) / 4
    cosine, sine = cosine_and_sine(turns)
    assert cosine.tolist() == [[1, 0, -1, 0][k % 4] for k in range(-8, 9)]
    assert sine.tolist() == [[0, 1, 0, -1][k % 4] for k in range(-8, 9)]


def test_cosine_and_sine_are_right_to_a_few_parts_in_ten_to_the_sixteen():
    turns = uniforms(4)
    cosine, sine = cosine_and_sine(turns)
    assert cosine == pytest.approx([math.cos(2 * math.pi * t) for t in turns], abs=1e-15)
    assert sine == pytest.approx([math.sin(2 * math.pi * t) for t in turns], abs=1e-15)
    assert cosine**2 + sine**2 == pytest.approx(np.ones(4000), abs=5e-16)


def test_every_digit_is_the_same_on_every_platform():
    """The digests were taken on CPython 3.11 for x86-64 and are those of CPython 3.14 for WebAssembly."""
    u = uniforms(5)
    assert digest(logarithm(u)) == "8a7612627e76ffbb"
    assert digest(exponential(12 * u - 6)) == "82b5ea087b27b22c"
    assert digest(np.concatenate(cosine_and_sine(u))) == "37c18cab4b4c29a5"
