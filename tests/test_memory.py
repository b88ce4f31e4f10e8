"""The estimated memory of a run, and the check before it starts."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from pixelsne import PixelSNE, memory
from pixelsne.memory import Workload, estimate


def test_larger_workloads_have_larger_estimates():
    base = estimate(Workload(100_000, 50, 90, "clusters"))
    for larger in (
        Workload(200_000, 50, 90, "clusters"),
        Workload(100_000, 500, 90, "clusters"),
        Workload(100_000, 50, 150, "clusters"),
    ):
        assert estimate(larger) > base


def test_a_million_points_fit_into_four_gigabytes():
    assert 1.5e9 < estimate(Workload(1_000_000, 50, 90, "clusters")) < 3.5e9


@pytest.mark.parametrize("search", ["exact", "vp-tree", "rp-forest", "clusters", "precomputed"])
def test_every_search_has_an_estimate(search):
    assert estimate(Workload(10_000, 50, 90, search)) - memory.FIXED > 10_000 * 90 * 20


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_a_run_beyond_the_memory_is_refused_before_it_starts(metric, digits, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1e6)
    seen = []
    model = PixelSNE(metric=metric, callback=seen.append)
    with pytest.raises(MemoryError, match=r"about 0\.[01] GB, 0\.0 GB are available; take fewer points"):
        model.fit(digits[0])
    assert not seen
    assert not hasattr(model, "embedding_")


def test_a_refusal_names_the_number_of_neighbors_that_fits(monkeypatch):
    work = Workload(10_000_000, 16, 90, "clusters", "perplexity")
    monkeypatch.setattr(memory, "available", lambda: 12e9)
    with pytest.raises(MemoryError, match=r"lower perplexity to \d+ \(\d+ neighbors each; 90 now\)") as error:
        memory.check_memory(work, extra_bytes=640_000_000)
    fitting = int(re.search(r"\((\d+) neighbors", str(error.value))[1])
    memory.check_memory(replace(work, neighbors=fitting), extra_bytes=640_000_000)
    with pytest.raises(MemoryError):
        memory.check_memory(replace(work, neighbors=fitting + 1), extra_bytes=640_000_000)


@pytest.mark.slow
def test_the_estimate_does_not_change_the_model(digits):
    model = PixelSNE(perplexity=10)
    assert model.estimate_memory(digits[0]) > memory.FIXED + 1e6
    assert not hasattr(model, "n_features_in_")
    fitted = PixelSNE(perplexity=10, max_iter=30).fit(digits[0])
    assert PixelSNE(init=fitted).estimate_memory(digits[0]) > memory.FIXED + 1e6
    state = np.random.RandomState(0)
    PixelSNE(random_state=state).estimate_memory(digits[0])
    assert state.randint(1000) == np.random.RandomState(0).randint(1000)


@pytest.mark.parametrize(
    ("limit", "used", "stat"),
    [
        ("memory.max", "memory.current", "inactive_file 50"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file 50"),
    ],
)
def test_limits_of_containers_are_respected(limit, used, stat, tmp_path):
    assert memory.left_in_group(tmp_path) == float("inf")
    (tmp_path / used).write_text("300\n")
    (tmp_path / limit).write_text("max\n")
    assert memory.left_in_group(tmp_path) == float("inf")
    (tmp_path / limit).write_text("1000\n")
    assert memory.left_in_group(tmp_path) == 700
    (tmp_path / "memory.stat").write_text(f"anon 7\n{stat}\n")
    assert memory.left_in_group(tmp_path) == 750
    (tmp_path / limit).write_text("100\n")
    assert memory.left_in_group(tmp_path) == 0


def test_available_memory_is_the_smallest_limit(monkeypatch):
    assert memory.available() > 1e6
    monkeypatch.setattr(memory, "free_memory", lambda: 9.0)
    monkeypatch.setattr(memory, "own_groups", lambda: ["near", "far"])
    monkeypatch.setattr(memory, "left_in_group", {"near": 7.0, "far": 5.0}.get)
    assert memory.available() == 5.0


@pytest.mark.parametrize(
    ("content", "folders"),
    [
        ("0::/user/job\n", ["/sys/fs/cgroup/user/job", "/sys/fs/cgroup/user", "/sys/fs/cgroup"]),
        ("5:cpu:/x\n4:memory:/job\n", ["/sys/fs/cgroup/memory/job", "/sys/fs/cgroup/memory"]),
    ],
)
def test_cgroups_of_this_process(content, folders, monkeypatch):
    monkeypatch.setattr(memory.Path, "read_text", lambda *_, **__: content)
    assert [str(folder) for folder in memory.own_groups()] == folders


def test_available_memory_without_proc(monkeypatch):
    monkeypatch.setattr(memory.Path, "read_text", lambda *_, **__: (_ for _ in ()).throw(OSError))
    assert memory.free_memory() > 1e8
    assert memory.own_groups() == []
    monkeypatch.delattr("os.sysconf_names")
    assert memory.free_memory() == float("inf")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("shape", "components"), [((50_000, 20), 20), ((12_000, 400), 400)])
def test_a_run_takes_no_more_than_its_estimate(shape, components):
    code = f"""
import numpy as np
from pathlib import Path
from pixelsne import PixelSNE
def figure(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024
values = np.random.default_rng(0).normal(size={shape})
model = PixelSNE(max_iter=20, random_state=0)
estimated, before = model.estimate_memory(values), figure("VmRSS")
model.fit(values)
assert model.n_pca_ == {components}
print(estimated, figure("VmHWM") - before)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    estimated, taken = map(float, result.stdout.split())
    assert taken < 1.15 * estimated


@pytest.mark.slow
def test_a_memory_map_is_read_block_by_block(tmp_path):
    """Reading a file larger than the blocks takes less memory than the file."""
    values = np.lib.format.open_memmap(tmp_path / "values.npy", mode="w+", dtype=np.uint8, shape=(20_000, 784))
    values[:] = np.random.default_rng(0).integers(0, 255, values.shape, dtype=np.uint8)
    code = f"""
import numpy as np, resource
from pixelsne import PixelSNE, _core
from pixelsne.reduce import fit_reduction
values = np.load({str(tmp_path / "values.npy")!r}, mmap_mode="r")
PixelSNE(max_iter=10, perplexity=5).fit(values[:2000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
token = _core.ProgressToken()
fit_reduction(values, 50, 0, token).apply(values, token, 2)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(result.stdout) < 20_000 * 784 * 4


@pytest.mark.parametrize(
    ("changes", "values", "expected"),
    [
        ({"perplexity": 500.0}, np.zeros((5000, 4), np.float32), "lower perplexity to"),
        ({"n_neighbors": 1500}, np.zeros((5000, 4), np.float32), "lower n_neighbors to"),
        ({"metric": "precomputed"}, sparse.random(5000, 5000, 0.2, format="csr"), "fewer entries"),
    ],
)
def test_a_refusal_names_the_parameter_to_change(changes, values, expected, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 3e7)
    with pytest.raises(MemoryError, match=expected):
        PixelSNE(**changes).fit(values)
