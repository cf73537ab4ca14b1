"""The inequalities that hold between tolerances: a search aims at more than a check asks for."""

import importlib
import pkgutil
from collections import defaultdict

import numpy as np
import pytest

import pertinent.questions
import pertinent.setting
import pertinent.solvers
from pertinent.geometry import gaps
from pertinent.proofs import tolerances as trusted

UNIT = 2.0**-53


@pytest.mark.parametrize("share", ["SUMS", "TANGENT", "CURVED", "ENTRY", "MIDDLE", "END", "ROOT"])
def test_rounding_covers_at_least_a_few_operations(share):
    assert getattr(trusted, share) >= 8 * UNIT


def test_what_is_rounding_is_less_than_what_counts_as_equal():
    assert trusted.SCALED >= 2 * UNIT
    assert trusted.SUMS < trusted.SMALLER < trusted.EQUAL
    assert trusted.SUMS < trusted.CANCELLED
    assert trusted.NOTHING < trusted.INDEPENDENT < trusted.ELLIPSOID


def test_a_slope_that_cancellation_left_cannot_outweigh_its_terms_within_reach():
    assert trusted.CANCELLED * trusted.REACH <= 1e-3


def test_numbers_of_a_copositive_form_stay_where_rounding_is_relative():
    smallest = trusted.MULTIPLIERS[0] * trusted.RADII[0] ** 2
    assert trusted.SMALLEST > 1e-290
    assert smallest > 1e-290
    assert trusted.MULTIPLIERS[1] * trusted.RADII[1] ** 2 < 1e290


def test_claims_are_lowered_by_less_than_the_gap_of_an_optimal_answer():
    assert max(trusted.LOWERED) < gaps.GAP_NONCONVEX
    assert trusted.LOWERED[0] == 0.0
    assert gaps.ROUNDING < gaps.GAP_CONVEX < gaps.GAP_NONCONVEX


@pytest.fixture(scope="module")
def searched():
    """Return the constants of all searches by name: wherever a module is, its aim is looked at."""
    found = defaultdict(dict)
    for package in (pertinent.solvers, pertinent.questions, pertinent.setting):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if module.name.endswith("kernel"):
                continue  # the compiled simplex: it needs numba
            for name, value in vars(importlib.import_module(module.name)).items():
                if name.isupper() and isinstance(value, int | float | tuple):
                    found[name][module.name] = value
    return found


def of(searched, name, where):
    """Return the value of a constant in the one module whose path ends so."""
    values = {v for module, v in searched[name].items() if where in module}
    assert len(values) == 1, (name, where, searched[name])
    return values.pop()


def test_the_search_for_copositive_forms_aims_at_more_than_the_check(searched):
    assert of(searched, "ENTRY_ERROR", "copositive") > trusted.ENTRY
    assert of(searched, "DEFINITE", "ball") > trusted.DEFINITE
    assert of(searched, "DEFINITE", "split_matrix") > of(searched, "DEFINITE", "ball")
    assert of(searched, "MOST_CORNERS", "varying") <= trusted.MOST_CORNERS


@pytest.mark.parametrize("name", ["RADIUS", "CONVEX_RADIUS", "LAST_RADIUS", "SHARE", "SHARES"])
def test_a_share_of_the_cost_that_is_proved_closes_the_gap(searched, name):
    assert searched[name], f"{name} is gone: which tolerance took its place?"
    for module, value in searched[name].items():
        assert np.min(value) > 1 - gaps.GAP_NONCONVEX, (module, value)
        assert np.max(value) < 1, (module, value)


def test_a_case_is_closed_only_within_the_gap_of_an_optimal_answer(searched):
    for module, value in searched["CLOSE"].items():
        if ".search." in module:
            assert value < gaps.GAP_NONCONVEX, (module, value)
    exact, coarse = of(searched, "CLOSED", "effort"), of(searched, "CLOSED_QUADRATIC", "effort")
    assert exact > trusted.SUMS
    assert 4 * exact < gaps.GAP_CONVEX
    assert 4 * coarse <= gaps.GAP_NONCONVEX


def test_searches_look_no_farther_than_rays_are_believed(searched):
    for module, value in searched["REACH"].items():
        assert value <= trusted.REACH, (module, value)
