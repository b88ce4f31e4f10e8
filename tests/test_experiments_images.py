"""Loaders of the paper's images: files as published, complete, partial and damaged."""

import csv
import gzip
import struct

import numpy as np
import pytest

from experiments.data import faces, mnist
from pixelsne.files.errors import FileError


def write_idx(path, values):
    head = bytes((0, 0, 8, values.ndim)) + struct.pack(f">{values.ndim}I", *values.shape)
    path.write_bytes(head + values.astype(np.uint8).tobytes())


@pytest.fixture
def idx_folder(tmp_path, random):
    for part, n in (("train", 6), ("t10k", 4)):
        write_idx(tmp_path / f"{part}-images-idx3-ubyte", random.integers(0, 256, (n, 28, 28)))
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte", np.arange(n) % 10)
    return tmp_path


class TestMnist:
    def test_idx_files_are_joined_training_first(self, idx_folder):
        loaded = mnist.load(idx_folder)
        assert loaded.values.shape == (10, 784)
        assert loaded.values.dtype == np.uint8
        assert loaded.labels.tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]

    def test_gzipped_files_are_read(self, idx_folder):
        plain = mnist.load(idx_folder)
        for path in list(idx_folder.iterdir()):
            with gzip.open(f"{path}.gz", "wb") as file:
                file.write(path.read_bytes())
            path.unlink()
        assert np.array_equal(mnist.load(idx_folder).values, plain.values)

    def test_a_missing_file_is_named(self, idx_folder):
        (idx_folder / "t10k-labels-idx1-ubyte").unlink()
        with pytest.raises(FileError, match="only a part of MNIST"):
            mnist.load(idx_folder)

    def test_a_truncated_file_is_named(self, idx_folder):
        path = idx_folder / "train-images-idx3-ubyte"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(FileError, match=r"train-images.*cut off"):
            mnist.load(idx_folder)

    @pytest.mark.parametrize("content", [b"", b"\x00\x00", b"\x1f\x8b\x08\x00", b"\x00\x00\x08\x03\x00\x00"])
    def test_files_that_are_not_idx_are_refused(self, idx_folder, content):
        (idx_folder / "train-images-idx3-ubyte").write_bytes(content)
        with pytest.raises(FileError, match="train-images"):
            mnist.load(idx_folder)

    def test_a_damaged_gzip_is_refused(self, idx_folder):
        (idx_folder / "train-images-idx3-ubyte").rename(idx_folder / "train-images-idx3-ubyte.gz")
        with pytest.raises(FileError, match="damaged"):
            mnist.load(idx_folder)

    @pytest.mark.parametrize("keras", [True, False])
    def test_npz_files_are_read(self, tmp_path, random, keras):
        images, labels = random.integers(0, 256, (5, 28, 28), dtype=np.uint8), np.arange(5, dtype=np.uint8)
        if keras:
            parts = {"x_train": images[:3], "y_train": labels[:3], "x_test": images[3:], "y_test": labels[3:]}
        else:
            parts = {"X": images.reshape(5, -1), "y": labels}
        np.savez(tmp_path / "mnist.npz", **parts)
        loaded = mnist.load(tmp_path)
        assert np.array_equal(loaded.values, images.reshape(5, -1))
        assert loaded.labels.tolist() == [0, 1, 2, 3, 4]

    def test_labels_beyond_nine_are_refused(self, tmp_path):
        np.savez(tmp_path / "mnist.npz", X=np.zeros((2, 784), np.uint8), y=np.array([0, 10]))
        with pytest.raises(FileError, match="labels from 0 to 10"):
            mnist.load(tmp_path)

    def test_an_npz_without_arrays_is_refused(self, tmp_path):
        np.savez(tmp_path / "mnist.npz", images=np.zeros(3))
        with pytest.raises(FileError, match="no array X, y"):
            mnist.load(tmp_path)
        (tmp_path / "mnist.npz").write_bytes(b"not a zip")
        with pytest.raises(FileError, match="damaged"):
            mnist.load(tmp_path)

    def test_an_empty_folder_has_no_mnist(self, tmp_path):
        assert mnist.load(tmp_path) is None


class TestFaces:
    def table(self, folder, rows):
        with (folder / "fer2013.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["emotion", "pixels", "Usage"])
            writer.writerows(rows)
        return folder

    def test_only_training_rows_are_read(self, tmp_path, random):
        images = random.integers(0, 256, (3, 2304))
        usages = ["Training", "PublicTest", "Training"]
        rows = [
            [k, " ".join(map(str, image)), usage] for k, (image, usage) in enumerate(zip(images, usages, strict=True))
        ]
        values, labels, source = faces.load_images(self.table(tmp_path, rows))
        assert np.array_equal(values, images[[0, 2]])
        assert labels.tolist() == [0, 2]
        assert source == "fer2013.csv"

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ([0, "1 2 3", "Training"], "row 1: 3 numbers"),
            ([0, "a " * 2304, "Training"], "row 1: not all are numbers"),
            ([0, "300 " * 2304, "Training"], "row 1: not all are numbers"),
            ([7, "0 " * 2304, "Training"], "column emotion, row 1"),
            ([0, "0 " * 2304, "PrivateTest"], "no rows whose Usage"),
        ],
    )
    def test_invalid_rows_are_named(self, tmp_path, row, message):
        with pytest.raises(FileError, match=message):
            faces.load_images(self.table(tmp_path, [row]))

    def test_wrong_columns_are_refused(self, tmp_path):
        (tmp_path / "fer2013.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        with pytest.raises(FileError, match="must have the columns"):
            faces.load_images(tmp_path)

    def test_npz_files_are_read(self, tmp_path, random):
        np.savez(
            tmp_path / "facexp.npz", X=random.integers(0, 256, (4, 2304), dtype=np.uint8), y=np.array([0, 1, 5, 6])
        )
        assert faces.load_images(tmp_path)[0].shape == (4, 2304)
        np.savez(tmp_path / "facexp.npz", X=np.zeros((4, 100), np.uint8), y=np.zeros(4, int))
        with pytest.raises(FileError, match="48 x 48"):
            faces.load_images(tmp_path)

    def test_the_network_has_the_papers_layers_and_learns(self, random):
        torch = pytest.importorskip("torch", reason="FacExp's network needs PyTorch")
        from experiments.data.network import Network, features  # noqa: PLC0415 - needs PyTorch

        layers = [layer for layer in Network().modules() if isinstance(layer, torch.nn.Conv2d | torch.nn.Linear)]
        sizes = [layer.weight.shape[0] for layer in layers]
        assert sizes == [32, 64, 96, 128, 256, 256, 7]
        labels = np.arange(140) % 7
        images = (labels[:, None] * 30 + random.integers(0, 20, (140, 2304))).astype(np.uint8)
        found = features(images, labels, epochs=4)
        assert found.shape == (140, 256)
        centers = np.array([found[labels == k].mean(axis=0) for k in range(7)])
        nearest = np.linalg.norm(found[:, None] - centers, axis=2).argmin(axis=1)
        assert np.mean(nearest == labels) > 0.9
        assert np.array_equal(found, features(images, labels, epochs=4))
