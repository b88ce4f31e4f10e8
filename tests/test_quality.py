import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

import reference
from pixelsne import quality


def slow_precision(high, low, k):
    first, second = reference.nearest(high, k)[0], reference.nearest(low, k)[0]
    return np.array([len(np.intersect1d(a, b)) / k for a, b in zip(first, second, strict=True)])


def test_precision_against_the_definition(clusters, random):
    placed = clusters[:, :2] + random.normal(0, 1, (600, 2))
    for k in (1, 5, 30):
        expected = slow_precision(clusters, placed, k)
        np.testing.assert_allclose(quality.point_precision(clusters, placed, k), expected)
        assert quality.neighborhood_precision(clusters, placed, k) == pytest.approx(expected.mean())


def test_a_perfect_map_has_precision_one(random):
    points = random.normal(size=(200, 2))
    assert quality.neighborhood_precision(points, 7 * points + 3, 10) == 1.0


def test_several_k_at_once(clusters, random):
    placed = random.normal(size=(600, 2))
    several = quality.neighborhood_precision(clusters, placed, [1, 10])
    assert several.tolist() == [quality.neighborhood_precision(clusters, placed, k) for k in (1, 10)]
    assert quality.point_precision(clusters, placed, [1, 10]).shape == (2, 600)


def test_accuracy_against_scikit_learn(digits, random):
    """Odd k and two classes: no ties to break differently. Leave one out by asking for one more."""
    placed = digits[0][:400, 18:20] + random.normal(0, 0.5, (400, 2))
    labels = digits[1][:400] % 2
    for k in (1, 5, 11):
        hits = 0
        for i in range(400):
            others = np.arange(400) != i
            classifier = KNeighborsClassifier(k).fit(placed[others], labels[others])
            hits += classifier.predict(placed[i : i + 1])[0] == labels[i]
        assert quality.knn_accuracy(placed, labels, k) == pytest.approx(hits / 400)


def test_ties_go_to_the_nearer_class():
    placed = np.array([[0.0, 0], [1, 0], [2.5, 0]])
    assert quality.knn_accuracy(placed, ["a", "a", "b"], 2) == pytest.approx(2 / 3)


def test_labels_of_any_kind(random):
    placed = np.concatenate([random.normal(0, 1, (50, 2)), random.normal(100, 1, (50, 2))])
    labels = np.array(["cat"] * 50 + ["dog"] * 50)
    assert quality.knn_accuracy(placed, labels, [1, 10]).tolist() == [1.0, 1.0]


def test_kl_against_the_twin(cluster_affinities, random):
    positions = random.normal(0, 5, (600, 2))
    expected = reference.kl_divergence(reference.dense(cluster_affinities), positions.astype(np.float32))
    assert quality.kl_divergence(cluster_affinities, positions) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: quality.neighborhood_precision(np.ones((5, 2)), np.ones((4, 2)), 1),
            "embedding must have 5 rows",
        ),
        (
            lambda: quality.neighborhood_precision(np.ones((5, 2)), np.ones((5, 2)), 5),
            "k must be between 1 and 4",
        ),
        (lambda: quality.neighborhood_precision(np.ones((5, 2)), np.ones((5, 2)), []), "k must be"),
        (
            lambda: quality.neighborhood_precision(np.full((5, 2), np.nan), np.ones((5, 2)), 1),
            "X must be finite",
        ),
        (lambda: quality.neighborhood_precision(np.ones(5), np.ones((5, 2)), 1), "X must be numbers"),
        (lambda: quality.knn_accuracy(np.ones((5, 2)), [1, 2], 1), "labels must be one for each of the 5"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_sparse_rows_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match=r"X must be dense.*X\.toarray"):
        quality.neighborhood_precision(sparse.csr_array(np.eye(5)), np.zeros((5, 2)), 2)
