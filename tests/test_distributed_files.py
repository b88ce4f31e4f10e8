"""Files that workers read and write: graphs and states of a checkpoint, points, maps."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from local_runner import begin_descent
from pixelsne.distributed import checkpoint, files, reduce
from pixelsne.files.errors import FileError
from pixelsne.files.source import ReadOptions
from pixelsne.screen import Screen


class TestFiles:
    """Functions of workers, called in this process."""

    @pytest.mark.slow
    def test_graphs_and_states_are_read_back(self, groups, tmp_path):
        shards = begin_descent(groups, 2)
        for shard, (graph, state) in enumerate(zip(shards.graphs, shards.states, strict=True)):
            assert checkpoint.save_graph(graph, str(tmp_path)) == shard
            assert checkpoint.save_state(state, shard, str(tmp_path), 7) == shard
            again = checkpoint.load_graph(shard, str(tmp_path))
            assert again.affinities.shard == shard
            for name in checkpoint.AFFINITY_PARTS:
                assert np.array_equal(getattr(again.affinities, name), getattr(graph.affinities, name))
            assert np.array_equal(again.exported.indices, graph.exported.indices)
            assert all(np.array_equal(a, b) for a, b in zip(again.sources, graph.sources, strict=True))
            loaded = checkpoint.load_state(shard, str(tmp_path), 7)
            for name in checkpoint.STATE_PARTS:
                assert np.array_equal(getattr(loaded, name), getattr(state, name))

    def test_a_file_is_read_as_a_block_and_its_map_is_written(self, tmp_path, random):
        values = random.normal(size=(20, 3)).astype(np.float32)
        table = pa.table({"a": values[:, 0], "b": values[:, 1], "c": values[:, 2], "name": ["x"] * 20})
        pq.write_table(table, tmp_path / "part.parquet")
        source, options = str(tmp_path / "part.parquet"), ReadOptions(label="name")
        block = files.read_values(source, 4, options)
        assert np.allclose(block.values, values)
        assert files.shape_of(block) == (20, 3, ("a", "b", "c"), 4)
        placed = random.uniform(0, 64, (20, 2)).astype(np.float32)
        target, screen = str(tmp_path / "map.parquet"), Screen((0, 0), (1, 1), (64, 64))
        assert files.write_part(placed, source, target, 0, options, screen, {"seed": 0}) == 20
        written = pq.read_table(target)
        assert np.allclose(written["x"].to_numpy(), placed[:, 0])
        assert written["name"].to_pylist() == ["x"] * 20

    def test_remote_files_are_read_and_written(self, tmp_path, random):
        values = random.normal(size=(20, 3)).astype(np.float32)
        np.save(tmp_path / "part.npy", values)
        source = f"file://{tmp_path}/part.npy"
        assert files.expand(f"file://{tmp_path}/*.npy") == [source]
        assert np.array_equal(files.read_values(source, 0, ReadOptions()).values, values)
        placed, screen = random.uniform(0, 64, (20, 2)).astype(np.float32), Screen((0, 0), (1, 1), (64, 64))
        files.write_part(placed, source, f"file://{tmp_path}/map.parquet", 0, ReadOptions(), screen, {})
        assert len(pq.read_table(tmp_path / "map.parquet")) == 20

    def test_gzipped_files_are_found(self, tmp_path):
        for name in ("a.csv.gz", "b.tsv", "c.npy.gz", "d.gz"):
            (tmp_path / name).touch()
        assert files.expand(str(tmp_path)) == [str(tmp_path / "a.csv.gz"), str(tmp_path / "b.tsv")]

    def test_a_sparse_matrix_is_refused(self, tmp_path):
        sparse.save_npz(tmp_path / "part.npz", sparse.random(30, 5, 0.5, format="csr"))
        with pytest.raises(FileError, match="sparse matrix"):
            files.read_values(str(tmp_path / "part.npz"), 0, ReadOptions())

    def test_digests_of_different_data_differ(self, groups):
        first, second = (reduce.digest(reduce.Block(0, groups + shift)) for shift in (0, 1))
        assert first != second
        assert reduce.join_digests([first, second]) != reduce.join_digests([second, first])
