import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

import reference
from pixelsne import quality


def reference_precision(high, low, k):
    first, second = reference.nearest(high, k)[0], reference.nearest(low, k)[0]
    return np.array([len(np.intersect1d(a, b)) / k for a, b in zip(first, second, strict=True)])


@pytest.mark.slow
def test_precision_against_the_definition(clusters, random):
    placed = clusters[:, :2] + random.normal(0, 1, (600, 2))
    for k in (1, 5, 30):
        expected = reference_precision(clusters, placed, k)
        np.testing.assert_allclose(quality.point_precision(clusters, placed, k), expected)
        assert quality.neighborhood_precision(clusters, placed, k) == pytest.approx(expected.mean())


def test_a_perfect_map_has_precision_one(random):
    points = random.normal(size=(200, 2))
    assert quality.neighborhood_precision(points, 7 * points + 3, 10) == 1.0


def test_several_values_of_k(clusters, random):
    placed = random.normal(size=(600, 2))
    several = quality.neighborhood_precision(clusters, placed, [1, 10])
    assert several.tolist() == [quality.neighborhood_precision(clusters, placed, k) for k in (1, 10)]
    assert quality.point_precision(clusters, placed, [1, 10]).shape == (2, 600)


@pytest.mark.slow
def test_accuracy_against_scikit_learn(digits, random):
    """Odd k and two classes avoid ties. Each row is classified by all others."""
    placed = digits[0][:400, 18:20] + random.normal(0, 0.5, (400, 2))
    labels = digits[1][:400] % 2
    for k in (1, 5, 11):
        hits = 0
        for i in range(400):
            rest = np.arange(400) != i
            classifier = KNeighborsClassifier(k).fit(placed[rest], labels[rest])
            hits += classifier.predict(placed[i : i + 1])[0] == labels[i]
        assert quality.knn_accuracy(placed, labels, k) == pytest.approx(hits / 400)


def test_ties_go_to_the_nearer_class():
    placed = np.array([[0.0, 0], [1, 0], [2.5, 0]])
    assert quality.knn_accuracy(placed, ["a", "a", "b"], 2) == pytest.approx(2 / 3)


def test_string_labels(random):
    placed = np.concatenate([random.normal(0, 1, (50, 2)), random.normal(100, 1, (50, 2))])
    labels = np.array(["cat"] * 50 + ["dog"] * 50)
    assert quality.knn_accuracy(placed, labels, [1, 10]).tolist() == [1.0, 1.0]


def test_kl_divergence_against_the_reference(cluster_affinities, random):
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
def test_invalid_arguments_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_sparse_input_is_refused_with_a_remedy():
    with pytest.raises(ValueError, match=r"X must be dense.*X\.toarray"):
        quality.neighborhood_precision(sparse.csr_array(np.eye(5)), np.zeros((5, 2)), 2)


def test_triplets_against_the_definition(random):
    values, placed = random.normal(size=(40, 5)), random.normal(size=(40, 2))
    true, shown = (np.sqrt(reference.squared_distances(rows)) for rows in (values, placed))
    agreeing = [
        (true[i, j] < true[i, k]) == (shown[i, j] < shown[i, k])
        for i in range(40)
        for j in range(40)
        for k in range(j)
        if i not in {j, k}
    ]
    measured = quality.triplet_accuracy(values, placed, per_point=2000)
    assert measured == pytest.approx(np.mean(agreeing), abs=0.005)


def test_triplets_of_rotated_random_and_collapsed_maps(random):
    points = random.normal(size=(500, 2))
    assert quality.triplet_accuracy(points, points[:, ::-1] * -3) == 1.0
    assert quality.triplet_accuracy(points, random.normal(size=(500, 2))) == pytest.approx(0.5, abs=0.05)
    assert quality.triplet_accuracy(points, np.zeros((500, 2))) == 0.0
    assert np.isnan(quality.triplet_accuracy(np.zeros((500, 2)), points))


def test_triplets_depend_on_the_seed_only(random):
    values, placed = random.normal(size=(200, 3)), random.normal(size=(200, 2))
    first, again, other = (quality.triplet_accuracy(values, placed, random_state=seed) for seed in (0, 0, 1))
    assert first == again != other


def test_center_correlation_against_the_definition(random):
    values, placed, labels = random.normal(size=(300, 6)), random.normal(size=(300, 2)), random.integers(0, 7, 300)
    distances = []
    for rows in (values, placed):
        centers = np.array([rows[labels == label].mean(axis=0) for label in range(7)])
        distances.append(np.sqrt(reference.squared_distances(centers))[np.triu_indices(7, 1)])
    expected = np.corrcoef(*(np.argsort(np.argsort(column)) for column in distances))[0, 1]
    names = np.array([f"class {label}" for label in labels])
    assert quality.center_correlation(values, placed, names) == pytest.approx(expected)


def test_global_measures_refuse_invalid_arguments(random):
    values, placed = random.normal(size=(20, 3)), random.normal(size=(20, 2))
    with pytest.raises(ValueError, match="at least 3 classes, got 2"):
        quality.center_correlation(values, placed, np.arange(20) % 2)
    with pytest.raises(ValueError, match="labels must be one for each of the 20 points"):
        quality.center_correlation(values, placed, np.arange(19))
    with pytest.raises(ValueError, match="at least 3 rows"):
        quality.triplet_accuracy(values[:2], placed[:2])
    with pytest.raises(ValueError, match="per_point must be 1 or more, got 0"):
        quality.triplet_accuracy(values, placed, per_point=0)
