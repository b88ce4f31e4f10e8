"""Columns of different units: scaled on request, otherwise reported by a warning."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from pixelsne import PixelSNE, quality
from pixelsne.unlike_columns import differ_widely


def quick(**changes):
    return PixelSNE(**{"random_state": 0, "max_iter": 60, "perplexity": 10} | changes)


@pytest.mark.parametrize(
    ("deviations", "expected"),
    [
        ([15.0, 30_000.0], True),
        ([0.8, 0.2, 3.3, 14, 0.6, 315], True),
        ([0.0, 0.0, 3.0, 4.0, 5.0], False),
        ([0.83, 0.43, 1.76, 0.76], False),
        ([400.0, 90.0, 20.0, 3.0, 1.0], False),  # principal components
        ([5.0], False),
        ([0.0, 0.0], False),
        ([1.0, 1000.0] * 51, False),  # too many columns for a table of properties
    ],
)
def test_deviations_that_differ_widely(deviations, expected):
    assert differ_widely(np.array(deviations)) is expected


def test_standard_equals_a_standard_scaler():
    values = load_wine().data
    model = quick(scale="standard").fit(values)
    scaled = quick().fit(StandardScaler().fit_transform(values))
    np.testing.assert_allclose(model.positions_, scaled.positions_, atol=1e-2)
    np.testing.assert_array_equal(model.transform(values), model.embedding_)


def test_scaling_improves_the_map_of_wine():
    values, labels = load_wine(return_X_y=True)
    accuracy = [
        quality.knn_accuracy(PixelSNE(scale=scale, random_state=0).fit_transform(values), labels, 5)
        for scale in ("none", "standard")
    ]
    assert accuracy[0] < 0.8
    assert accuracy[1] > 0.9


def test_sparse_and_dense_rows_are_scaled_equally(random):
    values = random.poisson(0.5, (200, 12)) * np.logspace(0, 4, 12)
    dense, by_sparse = (quick(scale="standard").fit(rows) for rows in (values, sparse.csr_array(values)))
    np.testing.assert_allclose(by_sparse.positions_, dense.positions_, atol=1e-3)


def test_a_constant_column_is_not_scaled(random):
    values = random.normal(size=(100, 4))
    values[:, 1] = 1 / 3
    assert np.isfinite(quick(scale="standard").fit_transform(values)).all()


def test_a_saved_model_scales_new_rows(random, tmp_path):
    values = random.normal(size=(200, 3)) * [1, 100, 10_000]
    model = quick(scale="standard").fit(values)
    model.save(tmp_path / "model.pixelsne")
    new = values[:20] * 1.1
    np.testing.assert_array_equal(PixelSNE.load(tmp_path / "model.pixelsne").transform(new), model.transform(new))


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_frame_and_its_array_give_the_same_map(scale):
    data = load_wine(as_frame=True).data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_frame = quick(scale=scale).fit(data).positions_
    np.testing.assert_array_equal(by_frame, quick(scale=scale).fit(data.to_numpy()).positions_)


def test_a_table_with_different_units_gives_one_warning():
    data = load_wine(as_frame=True).data
    with pytest.warns(UserWarning, match=r"'proline' by 314.*scale='standard'") as caught:
        quick().fit(data)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("kind", ["array", "pixels", "components", "scaled"])
def test_other_input_gives_no_warning(kind, random):
    wine = load_wine(as_frame=True).data
    tables = {
        "array": wine.to_numpy(),
        "pixels": load_digits(as_frame=True).data[:200],
        "components": pd.DataFrame(random.normal(size=(200, 5)) * [1000, 100, 10, 1, 0.1], columns=list("abcde")),
        "scaled": wine,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(scale="standard" if kind == "scaled" else "none").fit(tables[kind])


def test_scaling_with_other_metrics_is_refused(clusters):
    with pytest.raises(ValueError, match=r"scale='standard' is for metric='euclidean', got 'cosine'.*StandardScaler"):
        PixelSNE(scale="standard", metric="cosine").fit(clusters)
