"""Write the small valid files that mutations start from.

Run `python tests/files/make_seeds.py` when a format changes.
"""

import gzip
import warnings
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
from scipy import sparse

from pixelsne import PixelSNE
from pixelsne.files.checkpoint import write_prepared, write_state

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(0)
VALUES = RANDOM.normal(size=(12, 3)).astype(np.float32)
COUNTS = sparse.random(12, 8, 0.4, format="csr", random_state=0, dtype=np.float32)
WEIGHTS = np.arange(1.0, 13.0)
CELLS = pd.DataFrame({"kind": pd.Categorical(list("abcabcabcabc")), "age": np.arange(12)}, index=list("ghijklmnopqr"))


def write_tables() -> None:
    named = dict(zip(["red", "green", "blue"], VALUES.T, strict=True))
    table = pa.table(named | {"kind": ["a", "b, c", 'd "e"', None] * 3})
    vectors = pa.FixedSizeListArray.from_arrays(VALUES.ravel(), 3)
    nested = pa.table({"vector": vectors, "day": pa.array(range(12), pa.int32()).cast(pa.date32()), "no": [None] * 12})
    pa.csv.write_csv(table, HERE / "table.csv")
    (HERE / "table.csv.gz").write_bytes(gzip.compress((HERE / "table.csv").read_bytes(), mtime=0))
    (HERE / "years.csv").write_bytes(b"name,1990,1991,1992\r\nx,1,2,4\r\ny,3,5,4\r\n")
    (HERE / "lines.tsv").write_bytes(b'\xef\xbb\xbfa\tb\ttext\r1\t2\t"x\ry"\r3\t4\tz\r')
    pq.write_table(table, HERE / "table.parquet")
    pq.write_table(nested, HERE / "nested.parquet", compression="zstd")
    pyarrow.feather.write_feather(table, HERE / "table.feather", compression="uncompressed")
    pyarrow.feather.write_feather(nested, HERE / "nested.feather", compression="lz4")


def write_arrays() -> None:
    np.save(HERE / "values.npy", VALUES)
    np.savez(HERE / "values.npz", X=VALUES, y=np.arange(12), word=np.array(["a", "b"] * 6))
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        sparse.save_npz(HERE / f"{kind}.npz", COUNTS.asformat(kind), compressed=False)


def write_cells() -> None:
    with warnings.catch_warnings(action="ignore"):
        anndata.AnnData(VALUES, obs=CELLS).write_h5ad(HERE / "dense.h5ad")
        anndata.AnnData(COUNTS, obs=CELLS).write_h5ad(HERE / "sparse.h5ad", compression="gzip")


def write_runs() -> None:
    model = PixelSNE(perplexity=3, max_iter=20, random_state=0, n_jobs=1)
    model.fit(VALUES).save(HERE / "euclidean.model")
    other = PixelSNE(perplexity=3, max_iter=20, random_state=0, metric="manhattan")
    other.fit(COUNTS, weights=WEIGHTS).save(HERE / "manhattan.model")
    run = model.make_run(VALUES, weights=WEIGHTS)
    for snapshot in run.snapshots():
        if snapshot.iteration == 5:
            break
    write_state(HERE / "run.ckpt", run, run.descent.state(), {})
    write_prepared(HERE / "run.ckpt.prepared", run.prepared, {})


if __name__ == "__main__":
    write_tables()
    write_arrays()
    write_cells()
    write_runs()
