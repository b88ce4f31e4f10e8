"""The number of neighbors and the perplexity: which of the two is given, and what follows."""

import warnings

import numpy as np
import pytest

from pixelsne import PixelSNE
from pixelsne.neighborhood import PERPLEXITY_PER_NEIGHBOR, choose_neighborhood
from pixelsne.settings import settings_of

MANY = 10_000
QUICK = {"max_iter": 10, "random_state": 0}


def choose(n=MANY, **parameters):
    return choose_neighborhood(settings_of(PixelSNE(**parameters)), n)


@pytest.mark.parametrize(
    ("given", "n_neighbors", "perplexity"),
    [
        ({}, 30, (30 * PERPLEXITY_PER_NEIGHBOR,)),
        ({"n_neighbors": 100}, 100, (100 * PERPLEXITY_PER_NEIGHBOR,)),
        ({"n_neighbors": 1}, 1, (1.0,)),
        ({"n_neighbors": "all"}, MANY - 1, (30 * PERPLEXITY_PER_NEIGHBOR,)),
        ({"perplexity": 30}, 90, (30.0,)),
        ({"perplexity": (5, 50)}, 150, (5.0, 50.0)),
        ({"perplexity": 12, "n_neighbors": 20}, 20, (12.0,)),
        ({"perplexity": 12, "n_neighbors": "all"}, MANY - 1, (12.0,)),
    ],
)
def test_what_is_given_holds_and_the_other_follows(given, n_neighbors, perplexity):
    chosen = choose(**given)
    assert chosen.n_neighbors == n_neighbors
    assert chosen.perplexity == pytest.approx(perplexity)
    assert not chosen.warning


@pytest.mark.parametrize(("preset", "n_neighbors"), [("bh-sne", 150), ("pixelsne-vp", 150), ("t-sne", MANY - 1)])
def test_presets_keep_the_counts_of_the_paper(preset, n_neighbors):
    chosen = choose_neighborhood(settings_of(PixelSNE.preset(preset)), MANY)
    assert (chosen.n_neighbors, chosen.perplexity) == (n_neighbors, (50.0,))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 30, 31, 60])
def test_few_points_have_fewer_neighbors_without_a_warning(n):
    chosen = choose(n)
    assert chosen.n_neighbors == min(30, n - 1)
    assert 1 <= chosen.perplexity[0] <= max(1, (n - 1) / 3)
    assert not chosen.warning


def test_too_many_neighbors_are_lowered_with_one_warning(random):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = PixelSNE(n_neighbors=50, **QUICK).fit(random.normal(size=(31, 3)))
    assert [str(warning.message) for warning in caught] == ["n_neighbors=50 is too large for 31 points; using 30"]
    assert caught[0].filename == __file__
    assert (model.n_neighbors_, model.perplexity_) == (30, 10)


def test_too_few_distinct_rows_are_named_once(random):
    rows = np.repeat(random.normal(size=(20, 3)), 3, axis=0)
    with pytest.warns(UserWarning, match="n_neighbors=40 is too large for 20 distinct rows; using 19") as caught:
        model = PixelSNE(n_neighbors=40, **QUICK).fit(rows)
    assert len(caught) == 1
    assert model.n_neighbors_ == 19


def test_affinities_have_no_neighborhood(random):
    model = PixelSNE(metric="affinities", **QUICK).fit(random.random(size=(40, 40)))
    assert (model.n_neighbors_, model.perplexity_) == (None, None)
