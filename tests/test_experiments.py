"""The paper's experiments: its trees, the cells and their stored results, the tables, the report."""

import json
import os
import re
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import __main__ as commands
from experiments import figures, literal_tree, paper, paths, plan, report, stored_results, tables
from experiments.cells import KINDS, Cell, measure
from experiments.literal_tree import VARIANTS, LiteralTree
from experiments.machines import machines
from experiments.methods import METHODS
from experiments.stored_results import StoredResults
from pixelsne import _core
from pixelsne.screen import Screen

SIZES = dict(paper.POINTS)


def screen_of(positions, resolution):
    return Screen.around(_core.bounds(positions, 1), resolution, "fill")


def evaluate(repel, positions, screen):
    push = np.empty_like(positions)
    return repel(positions, screen, push, 0.42), push


def core_tree(variant, positions, screen, theta):
    tree, push = _core.TreeRepulsion(), np.empty_like(positions)
    if not variant.bounded:
        return tree.barnes_hut(positions, theta, push, 1), push
    sides = screen.origin, screen.unit_per_pixel, screen.resolution
    return tree.pixel_tree(positions, *sides, theta, "cell", push, 1), push


needs_compiler = pytest.mark.skipif(
    literal_tree.find_compiler() is None and "PIXELSNE_CI" not in os.environ,
    reason="no C++ compiler on this machine: the paper's own trees are compiled where they are needed",
)


class TestLiteralTrees:
    @pytest.mark.slow
    @needs_compiler
    @pytest.mark.parametrize("variant", VARIANTS, ids=str)
    @pytest.mark.parametrize("theta", [0.0, 0.5])
    def test_forces_agree_with_the_core(self, random, variant, theta):
        positions = random.normal(0, 20, (1500, 2)).astype(np.float32)
        screen = screen_of(positions, (256, 256))
        normalizer, push = evaluate(LiteralTree(variant, (256, 256), theta), positions, screen)
        expected_normalizer, expected = core_tree(variant, positions, screen, theta)
        assert normalizer == pytest.approx(expected_normalizer, rel=1e-6)
        assert np.abs(push - expected).max() < 1e-4 * np.abs(expected).max()

    @needs_compiler
    @pytest.mark.parametrize("variant", VARIANTS, ids=str)
    def test_forces_on_any_screen_with_coincident_points(self, random, variant):
        positions = np.repeat(random.normal(0, 5, (50, 2)), 4, axis=0).astype(np.float32)
        screen = screen_of(positions, (100, 75))
        normalizer, push = evaluate(LiteralTree(variant, (100, 75), 0.0), positions, screen)
        expected_normalizer, expected = core_tree(variant, positions, screen, 0.0)
        assert normalizer == pytest.approx(expected_normalizer, rel=1e-5)
        assert np.abs(push - expected).max() < 1e-4 * np.abs(expected).max()

    @needs_compiler
    @pytest.mark.parametrize("variant", VARIANTS, ids=str)
    def test_a_reused_tree_has_the_bits_of_a_new_one(self, random, variant):
        tree = LiteralTree(variant, (64, 64), 0.5)
        first, second = (random.normal(0, 5, (300, 2)).astype(np.float32) for _ in range(2))
        evaluate(tree, first, screen_of(first, (64, 64)))
        used = evaluate(tree, second, screen_of(second, (64, 64)))
        expected = evaluate(LiteralTree(variant, (64, 64), 0.5), second, screen_of(second, (64, 64)))
        assert used[0] == expected[0]
        assert np.array_equal(used[1], expected[1])

    def test_a_missing_compiler_is_reported(self, monkeypatch, tmp_path):
        monkeypatch.delenv("CXX", raising=False)
        monkeypatch.setattr(shutil, "which", lambda _name: None)
        with pytest.raises(RuntimeError, match=r"C\+\+ compiler"):
            literal_tree.compile_to(tmp_path / "tree.so")


class TestPlan:
    @pytest.mark.parametrize("scale", [plan.FULL, plan.QUICK])
    @pytest.mark.parametrize("name", plan.EXPERIMENTS)
    def test_cells_have_known_methods_and_feasible_sizes(self, name, scale):
        cells = list(plan.EXPERIMENTS[name](scale, SIZES))
        assert cells
        for cell in cells:
            max_points = METHODS[cell.method].max_points
            assert max_points is None or (cell.n or SIZES[cell.data]) <= max_points

    def test_times_cover_the_paper_except_the_runs_left_out(self):
        planned = {(cell.method, cell.data) for cell in plan.times(plan.FULL, SIZES)}
        missing = set(paper.TIMES) - planned
        assert missing == {(method, data) for method in ("bh-sne", "pixelsne-vp") for data in ("newsagg", "yelp")}
        assert {("bh-sne-rp", data) for data in ("newsagg", "yelp")} <= planned

    def test_repetitions_have_different_seeds(self):
        seeds = {cell.seed for cell in plan.times(plan.FULL, SIZES) if (cell.data, cell.method) == ("mnist", "bh-sne")}
        assert seeds == {0, 1, 2}

    def test_the_size_experiment_uses_the_largest_data_set(self):
        assert {cell.data for cell in plan.size(plan.FULL, SIZES)} == {"newsagg"}
        assert {cell.data for cell in plan.size(plan.FULL, SIZES | {"newsagg": 17_251})} == {"yelp"}


class TestResults:
    CELLS = (Cell("mnist", "ours", 64), Cell("mnist", "ours", 64, seed=1), Cell("mnist", "bh-sne", 64))

    @pytest.fixture
    def measured(self, monkeypatch):
        """Cells in the order in which they were measured."""
        seen = []
        monkeypatch.setattr(stored_results, "measure", lambda cell: seen.append(cell) or {"Total": float(len(seen))})
        return seen

    def open(self, tmp_path, fingerprint="data"):
        one = StoredResults(tmp_path / "cells.jsonl")
        one.describe({"mnist": {"points": 100, "fingerprint": fingerprint}})
        return one

    def test_finished_cells_are_not_measured_again(self, tmp_path, measured):
        self.open(tmp_path).complete(self.CELLS[:2])
        self.open(tmp_path).complete([*self.CELLS, self.CELLS[0]])
        assert measured == list(self.CELLS)
        assert self.open(tmp_path).get(self.CELLS[2])["Total"] == 3.0

    def test_a_cell_with_a_truncated_line_is_measured_again(self, tmp_path, measured):
        path = tmp_path / "cells.jsonl"
        self.open(tmp_path).complete(self.CELLS[:2])
        path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
        self.open(tmp_path).complete(self.CELLS[:2])
        assert measured == [*self.CELLS[:2], self.CELLS[1]]
        self.open(tmp_path).complete(self.CELLS[:2])  # the truncated line does not affect later lines
        assert len(measured) == 3

    def test_results_of_other_data_are_measured_again(self, tmp_path, measured):
        self.open(tmp_path).complete(self.CELLS[:1])
        other = self.open(tmp_path, "other data")
        assert other.get(self.CELLS[0]) is None
        assert other.have(self.CELLS) == []
        other.complete(self.CELLS[:1])
        assert len(measured) == 2

    def test_a_missing_map_is_computed_again(self, tmp_path, measured):
        one = self.open(tmp_path)
        one.complete(self.CELLS[:1])
        one.complete(self.CELLS[:1])
        assert len(measured) == 1
        one.complete(self.CELLS[:1], with_maps=True)
        assert len(measured) == 2

    def test_a_failed_cell_is_reported_and_skipped(self, tmp_path, monkeypatch, capsys):
        def fail(cell):
            if cell == self.CELLS[0]:
                raise RuntimeError("Traceback ...\nMemoryError: too large")
            return {"Total": 1.0}

        monkeypatch.setattr(stored_results, "measure", fail)
        one = self.open(tmp_path)
        one.complete(self.CELLS[:2])
        assert one.get(self.CELLS[0]) is None
        assert one.get(self.CELLS[1]) == {"Total": 1.0, "fingerprint": "data"}
        assert "MemoryError: too large" in capsys.readouterr().out

    def test_one_machine_is_described_in_one_sentence(self, tmp_path, monkeypatch):
        assert machines(self.open(tmp_path)) == ""
        monkeypatch.setattr(stored_results, "machine", lambda: {"date": "today", "processor": "old"})
        self.open(tmp_path).add(self.CELLS[0], {"Total": 8.0, "fingerprint": "data"})
        assert machines(self.open(tmp_path)) == "Measured on: processor old."

    def test_several_machines_are_listed_and_compared(self, tmp_path, monkeypatch):
        monkeypatch.setattr(stored_results, "machine", lambda: {"processor": "old"})
        one = self.open(tmp_path)
        for cell in self.CELLS:
            one.add(cell, {"Total": 8.0, "fingerprint": "data"})
        monkeypatch.setattr(stored_results, "machine", lambda: {"processor": "new"})
        one.add(self.CELLS[2], {"Total": 6.0, "fingerprint": "data"})
        one.add(Cell("mnist", "ours", 64, n=50), {"Total": 1.0, "fingerprint": "data"})
        *described, comparison = machines(self.open(tmp_path)).splitlines()
        assert described == [
            "Measured on several machines:",
            "",
            "- processor old: MNIST (ours (defaults)).",
            "- processor new: MNIST (BH-SNE); samples of MNIST.",
        ]
        assert comparison.startswith("- 1 runs were measured on both machines. The second machine took 0.75 of")


class TestTables:
    def test_durations_have_the_units_of_the_paper(self):
        assert [tables.duration(s) for s in (0.1234, 12.34, 447, 14_040)] == ["0.123 s", "12.3 s", "7.45 min", "3.9 h"]

    def test_mean_and_deviation_are_printed(self):
        assert tables.spread([0.5]) == "0.5000"
        assert tables.spread([0.4, 0.6]) == "0.5000 (0.1414)"
        assert tables.spread([]) == "not run"

    def test_the_exponent_of_a_power_law_is_fitted(self):
        sizes = np.array([1e4, 3e4, 1e5])
        assert tables.fitted_exponent(sizes, 5 * sizes**1.3) == pytest.approx(1.3)

    def test_the_exponent_is_fitted_to_large_sizes_if_there_are_some(self):
        points = [(n, [n * 1e-3]) for n in (5_000, 20_000, 50_000)]
        assert tables.fitted([(1_000, [9.0]), *points])[1:] == (20_000, 50_000)
        assert tables.fitted(points[:2])[1:] == (5_000, 20_000)
        assert tables.fitted(points[:1]) is None

    def test_the_papers_figures_are_consistent(self):
        """Totals are sums, except FacExp's, which differs in the paper itself."""
        for (method, data), (affinities, coordinates, total) in paper.TIMES.items():
            tolerance = 0.03 if (method, data) == ("bh-sne", "facexp") else 0.015  # the rest is rounding
            assert total == pytest.approx(affinities + coordinates, rel=tolerance)


class TestRegions:
    @pytest.mark.slow
    def test_a_region_is_named_by_its_own_words(self, random):
        kinds = np.arange(1200) % 12
        placed = np.stack([100.0 * (kinds % 4), 100.0 * (kinds // 4)], axis=1) + random.normal(0, 1, (1200, 2))
        words = ["oil", "gas", "virus", "flu", "apple", "phone", "film", "actor", "bank", "rate", "rain", "storm"]
        texts = [f"the news about {words[kind]}" for kind in kinds]
        named = figures.name_regions(placed, texts)
        assert len(named) == 12
        for position, name in named:
            kind = int(round(position[0] / 100) + 4 * round(position[1] / 100))
            assert name.splitlines()[0] == words[kind]


@pytest.fixture
def small(tmp_path, monkeypatch, random):
    """A folder with 240 synthetic digits; all experiments are tiny and measured in this process."""
    monkeypatch.setattr(stored_results, "measure", lambda cell: KINDS[cell.kind](cell))
    folder = tmp_path / "data"
    folder.mkdir()
    labels = np.arange(240) % 10
    images = random.integers(0, 256, (10, 784))[labels] * 0.5 + random.integers(0, 100, (240, 784))
    np.savez(folder / "mnist.npz", X=images.astype(np.uint8), y=labels)
    scale = plan.Scale(
        rows=200,
        repetitions=1,
        judged_rows=160,
        judged_repetitions=2,
        sizes=(160, 240),
        exact_up_to=160,
        digit_counts=(160, 200),
    )
    monkeypatch.setattr(commands, "QUICK", scale)
    cache = tmp_path / "cache"
    monkeypatch.setenv("PIXELSNE_EXPERIMENTS_CACHE", str(cache))  # for the processes that measure
    for module in (paths, commands, literal_tree):
        monkeypatch.setattr(module, "CACHE", cache)
    monkeypatch.setattr("experiments.data.catalog.CACHE", cache)
    monkeypatch.setattr("experiments.cells.CACHE", cache)
    return folder, cache


def run_quick(folder, *names):
    command = [*names, "--quick", "--data", str(folder)]
    return CliRunner().invoke(commands.main, command, catch_exceptions=False)


@pytest.mark.slow
def test_from_a_file_to_the_report_without_measuring_twice(small):
    folder, cache = small
    first = run_quick(folder, "quality-by-resolution", "cost")
    assert first.exit_code == 0
    assert "MNIST: 240 points from mnist.npz" in first.output
    assert "Yelp is left out" in first.output
    assert "FacExp is left out of a quick run" in first.output
    text = (cache / "quick" / "paper.md").read_text(encoding="utf-8")
    assert re.search(r"\| PixelSNE-RP, r = 4096 \| 1\.868 \| \d\.\d{3} \(\d", text)
    assert "12 (C + log 12)" in text
    cells = (cache / "quick" / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    again = run_quick(folder, "quality-by-resolution", "cost")
    assert "[1/" not in again.output
    assert (cache / "quick" / "cells.jsonl").read_text(encoding="utf-8").splitlines() == cells


@pytest.mark.slow
@needs_compiler
def test_the_report_has_all_pictures(small):
    """Headlines beside the digits, so that all pictures have their data."""
    folder, cache = small
    rng = np.random.default_rng(0)
    kinds = np.arange(200) % 4
    values = rng.normal(0, 3, (4, 100))[kinds] + rng.normal(size=(200, 100))
    np.savez(folder / "newsagg.npz", X_glove100=values.astype(np.float16), y=kinds)
    words = ["stocks", "phones", "films", "virus"]
    lines = [json.dumps({"text": f"news of {words[kind]} today"}) for kind in kinds]
    (folder / "newsagg.texts.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run_quick(folder, "improvements", "size", "resolution", "maps", "headlines")
    assert done.exit_code == 0
    assert "failed" not in done.output
    text = (cache / "quick" / "paper.md").read_text(encoding="utf-8")
    assert re.search(r"pixel leaves, one-time arrays, integers \| \d", text)
    assert re.search(r"attraction, cluster order \| \d", text)
    for picture in ("size", "resolution", "maps", "headlines"):
        assert f"![{picture}](paper/{picture}.png)" in text
        assert (cache / "quick" / "paper" / f"{picture}.png").stat().st_size > 10_000
    shutil.rmtree(cache / "maps")
    assert "[1/" not in run_quick(folder, "size").output
    assert "[1/" in run_quick(folder, "headlines").output  # its map is missing


def test_measuring_without_data_is_refused(tmp_path):
    result = CliRunner().invoke(commands.main, ["times", "--results", str(tmp_path)])
    assert result.exit_code == 2
    assert "--data FOLDER is needed" in result.output


@pytest.mark.slow
def test_a_cell_gives_the_same_map_every_time(small, monkeypatch):
    """Measured in separate processes, as in real runs."""
    monkeypatch.setattr(stored_results, "measure", measure)
    folder, cache = small
    cell = Cell("mnist", "pixelsne-rp", 64, n=100)
    sets = commands.prepare_all(folder, quick=True)
    results = []
    for part in ("a", "b"):
        one = StoredResults(cache / part / "cells.jsonl")
        one.describe(sets)
        one.complete([cell])
        results.append(one.get(cell))
    assert results[0]["KL"] == results[1]["KL"]
    assert results[0]["precision"] == results[1]["precision"]


@pytest.mark.slow
def test_the_committed_report_is_made_from_the_committed_results(tmp_path, monkeypatch):
    """docs/paper.md is made from the committed results alone."""
    monkeypatch.setattr("experiments.cells.CACHE", tmp_path / "empty")
    shutil.copytree(paths.REPORT.parent / "paper", tmp_path / "paper")
    report.write_report(tmp_path / "paper.md", StoredResults(paths.RESULTS / commands.CELLS), plan.FULL)
    assert (tmp_path / "paper.md").read_text(encoding="utf-8") == paths.REPORT.read_text(encoding="utf-8")


def test_results_come_from_one_version_of_the_data():
    entries = [json.loads(line) for line in (paths.RESULTS / commands.CELLS).read_text(encoding="utf-8").splitlines()]
    prints = {(entry["cell"]["data"], entry["result"]["fingerprint"]) for entry in entries}
    assert len(prints) == len({data for data, _ in prints})
