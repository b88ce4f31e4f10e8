"""Model files: loaded completely or refused."""

import io
import json
import os
import re
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances

from pixelsne import PixelSNE
from pixelsne.files.archive import DOCUMENT, DamagedFileError, write_archive


def quick(**changes):
    return PixelSNE(**({"perplexity": 10, "max_iter": 60, "random_state": 0} | changes))


@pytest.fixture(scope="module")
def values(digits):
    return digits[0][:300]


@pytest.fixture(scope="module")
def saved(values, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "digits.pixelsne"
    quick(resolution=(640, 480), momentum=(0.5, 0.8)).fit(values).save(path)
    return path


LEARNED = ("embedding_", "pixels_", "positions_", "kl_divergence_", "n_iter_", "stopped_by_", "perplexity_", "timings_")


def test_learned_attributes_are_read_back(saved, values):
    model, again = quick(resolution=(640, 480), momentum=(0.5, 0.8)).fit(values), PixelSNE.load(saved)
    for name in LEARNED[:-1]:
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.timings_.keys() == model.timings_.keys()
    for name, column in model.history_.items():
        np.testing.assert_array_equal(again.history_[name], column)
    assert again.get_params() == model.get_params()
    assert again.n_features_in_ == 64


@pytest.mark.parametrize(
    ("settings", "prepare"),
    [
        ({}, lambda rows, _: rows),
        ({"n_pca": 20}, lambda rows, _: rows),
        ({"metric": "cosine"}, lambda rows, _: rows),
        ({"metric": "manhattan"}, lambda rows, _: rows),
        ({"metric": "manhattan"}, lambda rows, _: sparse.csr_array(rows)),
        ({"metric": "manhattan"}, lambda rows, _: rows.astype(">f8")),
        ({}, lambda rows, _: sparse.csr_array(rows)),
        ({"metric": "precomputed"}, pairwise_distances),
        ({"perplexity": [5, 10], "init": "random", "learning_rate": 200.0}, lambda rows, _: rows),
    ],
)
def test_a_saved_model_transforms(settings, prepare, values, tmp_path):
    old, new = values[:200], values[200:]
    model = quick(**settings).fit(prepare(old, old))
    model.save(tmp_path / "model")
    again = PixelSNE.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(prepare(new, old)), model.transform(prepare(new, old)))
    np.testing.assert_array_equal(again.transform(prepare(old, old)), model.embedding_)


def test_feature_names_are_read_back(values, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(values).rename(columns=str)
    quick().fit(frame).save(tmp_path / "model")
    assert list(PixelSNE.load(tmp_path / "model").feature_names_in_) == list(frame.columns)


def test_an_initial_array_is_saved_and_a_callback_is_not(values, tmp_path):
    start = np.random.default_rng(0).normal(size=(300, 2))
    quick(init=start, callback=lambda _: None, random_state=np.random.RandomState(3)).fit(values).save(
        tmp_path / "model"
    )
    again = PixelSNE.load(tmp_path / "model")
    np.testing.assert_array_equal(again.init, start)
    assert again.callback is None
    assert again.random_state is None


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        quick().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_saving_is_atomic(saved, values, tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(saved.read_bytes())

    def fail(*_, **__):
        raise OSError("no space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="no space"):
        quick().fit(values).save(path)
    assert path.read_bytes() == saved.read_bytes()
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_mode_follows_the_umask(values, tmp_path):
    old = os.umask(0o027)
    try:
        quick().fit(values).save(tmp_path / "model")
    finally:
        os.umask(old)
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o640


def test_saving_into_a_missing_folder_names_the_file(saved, tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        PixelSNE.load(saved).save(tmp_path / "missing" / "map.pixelsne")
    assert raised.value.filename == str(tmp_path / "missing" / "map.pixelsne")


def test_a_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        PixelSNE.load(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"", b"PK", b"not a model at all" * 100])
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DamagedFileError, match="damaged, or not a pixelsne file"):
        PixelSNE.load(tmp_path / "file")


@pytest.mark.slow
def test_a_changed_or_missing_byte_is_detected_or_harmless(saved, tmp_path, values):
    """A model loads unchanged or not at all. Checksums protect the arrays, so every byte around them is tested."""
    content = saved.read_bytes()
    expected = PixelSNE.load(saved).transform(values[:5])
    path = tmp_path / "model"
    numbers = np.arange(0, len(content), 997)
    directory = np.arange(content.index(b"PK\x01\x02"), len(content))
    headers = [np.arange(m.start(), m.start() + 180, 3) for m in re.finditer(b"PK\x03\x04", content)]
    for position in np.concatenate([numbers, directory, *headers]):
        for damaged in (
            content[:position],
            content[:position] + bytes([content[position] ^ 0x55]) + content[position + 1 :],
        ):
            path.write_bytes(damaged)
            try:
                model = PixelSNE.load(path)
            except DamagedFileError:
                continue
            np.testing.assert_array_equal(model.transform(values[:5]), expected)


def parts_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_parts(path, parts, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def as_npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


def change_document(parts, change):
    document = json.loads(parts[DOCUMENT])
    change(document)
    return parts | {DOCUMENT: json.dumps(document).encode()}


HOSTILE = {
    "objects, which are pickles": lambda parts: (
        parts | {"positions.npy": as_npy(np.array([[{}, {}]] * 300), allow_pickle=True)}
    ),
    "a header that promises too much": lambda parts: (
        parts | {"positions.npy": parts["positions.npy"].replace(b"(300, 2)", b"(9999999999, 2)")}
    ),
    "no positions": lambda parts: {name: part for name, part in parts.items() if name != "positions.npy"},
    "positions that are no numbers": lambda parts: (
        parts | {"positions.npy": as_npy(np.full((300, 2), np.nan, np.float32))}
    ),
    "positions of another type": lambda parts: parts | {"positions.npy": as_npy(np.zeros((300, 2)))},
    "fewer positions": lambda parts: parts | {"positions.npy": as_npy(np.zeros((299, 2), np.float32))},
    "fewer columns": lambda parts: parts | {"mean.npy": as_npy(np.zeros(7))},
    "a part with a path": lambda parts: parts | {"../../evil.npy": as_npy(np.zeros(3))},
    "a part that is a program": lambda parts: parts | {"run.py": b"print('hello')"},
    "no document": lambda parts: {name: part for name, part in parts.items() if name != DOCUMENT},
    "a document that is a list": lambda parts: parts | {DOCUMENT: b"[]"},
    "a document nested without end": lambda parts: parts | {DOCUMENT: b"[" * 200_000},
    "another kind": lambda parts: change_document(parts, lambda document: document.update(kind="recipe")),
    "an unknown parameter": lambda parts: change_document(
        parts, lambda document: document["parameters"].update(command="rm")
    ),
    "a parameter that makes no sense": lambda parts: change_document(
        parts, lambda document: document["parameters"].update(perplexity="many")
    ),
    "an unknown space": lambda parts: change_document(parts, lambda document: document["space"].update(kind="outer")),
    "no neighbors": lambda parts: change_document(parts, lambda document: document.update(neighbor_count=0)),
    "a screen without width": lambda parts: change_document(
        parts, lambda document: document["screen"].update(unit_per_pixel=[0, 1])
    ),
    "an origin of no numbers": lambda parts: change_document(
        parts, lambda document: document["screen"].update(origin=[])
    ),
    "positions beyond all maps": lambda parts: parts | {"positions.npy": as_npy(np.full((300, 2), 1e18, np.float32))},
    "a history that is none": lambda parts: parts | {"history_iteration.npy": as_npy(np.array([1e300]))},
    "other columns": lambda parts: change_document(parts, lambda document: document.update(columns=1)),
    "other names": lambda parts: change_document(parts, lambda document: document.update(column_names="ab")),
    "a callback": lambda parts: change_document(parts, lambda document: document["parameters"].update(callback="x")),
    "a header that is a program": lambda parts: (
        parts | {"positions.npy": parts["positions.npy"].replace(b"(300, 2)", b"(300, 2{")}
    ),
    "a shape without end": lambda parts: (
        parts | {"positions.npy": parts["positions.npy"].replace(b"(300, 2), ", b"(0, " + b"9" * 30 + b")")}
    ),
    "a number of many digits": lambda parts: parts | {DOCUMENT: b'{"kind": ' + b"1" * 5000 + b"}"},
    "too many parts": lambda parts: parts | {f"part{position}.npy": as_npy(np.zeros(1)) for position in range(50)},
    "points beyond reach": lambda parts: parts | {"points.npy": as_npy(np.full((300, 50), 1e30, np.float32))},
    "a scale that is no number": lambda parts: change_document(
        parts, lambda document: document["space"].update(scale=None)
    ),
}


@pytest.mark.parametrize("trick", HOSTILE)
def test_hostile_files_are_refused(trick, saved, tmp_path):
    path = tmp_path / "model"
    write_parts(path, HOSTILE[trick](parts_of(saved)))
    with pytest.raises(DamagedFileError):
        PixelSNE.load(path)


def test_compressed_parts_are_refused_before_they_are_read(saved, tmp_path):
    path = tmp_path / "model"
    write_parts(path, parts_of(saved) | {"mean.npy": bytes(10_000_000)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(DamagedFileError, match="is compressed or encrypted"):
        PixelSNE.load(path)


def test_a_newer_format_version_is_refused(saved, tmp_path):
    path = tmp_path / "model"
    write_parts(path, change_document(parts_of(saved), lambda document: document.update(version=2)))
    with pytest.raises(ValueError, match="version 2, but this pixelsne reads version 1"):
        PixelSNE.load(path)


def test_names_in_an_archive_are_identifiers(tmp_path):
    write_archive(tmp_path / "archive", {}, {"numbers": np.arange(3)})
    assert sorted(parts_of(tmp_path / "archive")) == [DOCUMENT, "numbers.npy"]
