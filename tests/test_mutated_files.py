"""Damaged files of every format give a result or an error with a message, but no crash and no other error.

MUTATIONS=1000 tries more of them.
"""

import faulthandler
import os
import sys
from contextlib import nullcontext
from zlib import crc32

import numpy as np
import pytest

from hdf5_forks import forked_readers
from mutations import SEEDS, TARGETS, damaged, seeds, try_content
from pixelsne import PixelSNE
from pixelsne.files.read_points import read_points

MUTATIONS = int(os.environ.get("MUTATIONS", "60"))
TIMEOUT = 600  # seconds per format


@pytest.fixture(scope="module", autouse=True)
def quick_h5ad():
    with forked_readers() if sys.platform == "linux" else nullcontext():
        yield


@pytest.fixture(autouse=True)
def no_hang():
    faulthandler.dump_traceback_later(TIMEOUT, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.slow
@pytest.mark.parametrize("kind", TARGETS)
def test_damage_is_refused_or_harmless(kind, tmp_path):
    for seed in seeds(kind):
        content, random = seed.read_bytes(), np.random.default_rng(crc32(seed.name.encode()))
        try_content(kind, content, tmp_path)
        for _ in range(MUTATIONS // 4 if kind == "h5ad" else MUTATIONS):  # each takes a process
            try_content(kind, damaged(content, random), tmp_path)


@pytest.mark.slow
def test_seeds_have_the_current_format():
    """If this fails, a format has changed: run tests/files/make_seeds.py."""
    for seed in sorted(SEEDS.glob("*.*")):
        if seed.suffix == ".model":
            PixelSNE.load(seed)
        elif seed.suffix not in {".py", ".ckpt", ".prepared"}:
            assert len(read_points(seed)) >= 2
