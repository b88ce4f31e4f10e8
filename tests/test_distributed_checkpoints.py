"""Checks of the files that a run on a cluster finds. Runs without a cluster."""

import numpy as np
import pytest

from pixelsne import PixelSNE
from pixelsne.distributed.checkpoint import (
    KIND,
    RUN,
    VERSION,
    SharedFolder,
    graph_file,
    identity_of,
    load_graph,
    load_state,
    shards_of,
    state_file,
)
from pixelsne.distributed.entry import distributed_settings
from pixelsne.files.archive import read_archive, write_archive
from pixelsne.files.errors import FileError


class TaskRunner:
    """A runner of two workers that see the files of the client."""

    shards = 2

    @property
    def client(self):
        return self

    def run(self, function, *arguments):
        return {name: function(*arguments) for name in ("a", "b")}


def identity(rows=900, columns=5, values="0123456789abcdef", shards=2, **changes):
    settings = distributed_settings(PixelSNE(random_state=0, max_iter=60, **changes))
    return identity_of(rows, columns, values, shards, settings)


@pytest.fixture
def checkpoint(tmp_path):
    """A checkpoint after 50 of 60 iterations."""
    progress = {"iteration": 50, "next_pace": 50, "stopped_by": "max_iter", "timings": {"reduce": 0.5}}
    progress["components"] = 20
    document = {"kind": KIND, "version": VERSION, "run": identity(), "looks": [(50, 2.5, 7.0)], **progress}
    write_archive(tmp_path / RUN, document, {"last_look": np.zeros((900, 2), np.float32)})
    return tmp_path


def state_of(folder, **changes):
    return SharedFolder(folder, TaskRunner(), identity(**changes)).run_state()


def rewrite(path, change):
    document, arrays = read_archive(path)
    change(document, arrays)
    write_archive(path, document, arrays)


def test_progress_is_read_back(checkpoint):
    state = state_of(checkpoint)
    assert (state.iteration, state.next_step, state.stopped_by) == (50, 50, "max_iter")
    assert state.measurements == [(50, 2.5, 7.0)]
    assert state.timings == {"reduce": 0.5}
    assert state.last_sample.shape == (900, 2)
    assert state.n_components == 20
    assert shards_of(checkpoint) == 2
    assert shards_of(checkpoint / "elsewhere") is None
    assert state_of(checkpoint / "elsewhere") is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": "fedcba9876543210"}, "other data: the same numbers of rows and columns, but other values$"),
        ({"rows": 901}, "was made from other data: 900 rows, this run has 901"),
        ({"perplexity": 12, "shards": 1}, r"was made with perplexity None, this run has \[12\.0\]"),
        ({"shards": 1}, "was made with workers 2, this run has 1"),
    ],
)
def test_a_different_run_is_refused_with_the_difference(changes, message, checkpoint):
    with pytest.raises(FileError, match=message):
        state_of(checkpoint, **changes)


DAMAGES = {
    "no iteration": (lambda document, _: document.pop("iteration"), "it has no 'iteration'"),
    "no last look": (lambda _, arrays: arrays.pop("last_look"), "it has no array last_look"),
    "a look of NaN": (lambda _, arrays: arrays["last_look"].fill(np.nan), "array last_look has NaN or infinite values"),
    "no components": (lambda document, _: document.update(components=0), "components must be 1 or more"),
    "a step before its iteration": (lambda document, _: document.update(next_pace=3), "next_pace must be between"),
    "later than the end": (lambda document, _: document.update(iteration=61), "iteration must be between 0 and 60"),
    "an unknown end": (lambda document, _: document.update(stopped_by="boredom"), "'boredom' is unknown"),
    "looks that are none": (lambda document, _: document.update(looks=[[1, 2]]), "is damaged"),
    "no times": (lambda document, _: document.update(timings=[1.0]), "is damaged"),
    "another kind": (lambda document, _: document.update(kind="pixelsne model"), "its kind is 'pixelsne model'"),
    "newer": (lambda document, _: document.update(version=99), "format version 99, but this pixelsne reads version 1"),
    "no identity": (lambda document, _: document.update(run=None), "the identity of its run is missing"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_refused_with_the_reason(name, checkpoint):
    change, message = DAMAGES[name]
    rewrite(checkpoint / RUN, change)
    with pytest.raises(ValueError, match=message) as refused:
        state_of(checkpoint)
    assert RUN in str(refused.value)


@pytest.mark.parametrize("change", [{"run": None}, {"run": {}}, {"run": {"workers": "two"}}, {"kind": "recipe"}])
def test_an_unknown_number_of_shards_is_refused(change, checkpoint):
    rewrite(checkpoint / RUN, lambda document, _: document.update(change))
    with pytest.raises(ValueError, match=RUN):
        shards_of(checkpoint)


def test_shard_files_without_an_array_are_refused(tmp_path):
    write_archive(graph_file(str(tmp_path), 1), {}, {"rows": np.arange(3)})
    with pytest.raises(FileError, match=r"share-00001\.pixelsne: is damaged: it has no array offsets"):
        load_graph(1, str(tmp_path))
    write_archive(state_file(str(tmp_path), 25, 1), {}, {})
    with pytest.raises(FileError, match="it has no array positions"):
        load_state(1, str(tmp_path), 25)
