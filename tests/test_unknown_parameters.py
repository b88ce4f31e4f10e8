"""Parameters of other libraries: errors of the constructor."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from pixelsne import PixelSNE
from pixelsne.unknown_parameters import INSTEAD

PARAMETERS = inspect.signature(PixelSNE.__init__).parameters


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("n_iter", 1000, "use max_iter"),
        ("min_dist", 0.1, "exaggeration"),
        ("dof", 0.5, "always 1"),
        ("callbacks", [print], "use callback"),
        ("precomputed_knn", (), "metric='precomputed'"),
        ("metric_params", {}, "metric='precomputed'"),
        ("angle", 0.5, "use theta"),
        ("method", "exact", "repulsion='exact'"),
        ("initialization", "pca", "use init"),
        ("perplexty", 20, "did you mean 'perplexity'"),
        ("something", 1, "it has resolution, n_neighbors"),
    ],
)
def test_parameters_of_other_libraries_are_refused_with_a_remedy(name, value, remedy):
    with pytest.raises(TypeError, match=name) as caught:
        PixelSNE(**{name: value})
    assert remedy in str(caught.value)


def test_refused_names_are_no_parameters():
    assert not set(INSTEAD) & set(PARAMETERS)


def test_positional_parameters_are_refused():
    with pytest.raises(TypeError, match=r"by name, as n_components=2.*got 2"):
        PixelSNE(2)


def test_two_components_are_accepted():
    assert PixelSNE(n_components=2, perplexity=7).perplexity == 7
    with pytest.raises(ValueError, match=r"n_components=3 is not available.*n_components=2"):
        PixelSNE(n_components=3)


def test_the_constructor_follows_scikit_learn():
    assert not [one for one in PARAMETERS.values() if one.kind in {one.VAR_KEYWORD, one.VAR_POSITIONAL}]
    assert set(PixelSNE().get_params()) == set(PARAMETERS) - {"self"}
    assert clone(PixelSNE(perplexity=7)).perplexity == 7
    assert pickle.loads(pickle.dumps(PixelSNE(perplexity=7))).perplexity == 7  # noqa: S301
    assert "resolution" in str(inspect.signature(PixelSNE))


def test_a_metric_function_is_refused_with_a_remedy():
    with pytest.raises(TypeError, match=r"metric='precomputed' with X = sklearn.metrics.pairwise_distances"):
        PixelSNE(metric=lambda a, b: abs(a - b).sum()).fit(np.zeros((10, 2)))
