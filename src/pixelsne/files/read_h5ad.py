"""Cells: the AnnData format of single-cell biology, for those who have installed its library."""

from pathlib import Path
from typing import Any

from pixelsne.files.errors import FileError
from pixelsne.files.source import CheckRoom, Source, Wanted
from pixelsne.memory import GIGABYTE, available

MATRIX = "X"


def need_anndata(path: Path) -> tuple[Any, Any]:
    try:
        import anndata.io  # noqa: PLC0415 - an extra
        import h5py  # noqa: PLC0415
    except ImportError:
        raise FileError(path, "needs a library: pip install 'pixelsne[anndata]'") from None
    return anndata.io, h5py


def read_h5ad(path: Path, wanted: Wanted, check_room: CheckRoom) -> Source:
    """Of the file, what is embedded and the table of cells; the rest stays where it is."""
    io, h5py = need_anndata(path)
    if wanted.columns is not None:
        raise FileError(path, "--columns is for tables; --rep chooses what of an h5ad is embedded")
    try:
        with h5py.File(path, "r") as file:
            name = choose_representation(path, file, wanted.representation)
            check_size(path, h5py, file, (name, "obs"))
            values, cells = io.read_elem(file[name]), io.read_elem(file["obs"])
    except FileError:
        raise
    except Exception as error:  # noqa: BLE001 - what a damaged file makes its libraries raise is anybody's guess
        raise FileError(path, f"is damaged, or no h5ad file: {str(error).splitlines()[0]:.200}") from None
    return cells_source(path, name, values, cells, wanted, check_room)


def cells_source(path: Path, name: str, values: Any, cells: Any, wanted: Wanted, check_room: CheckRoom) -> Source:
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    from pixelsne.files.read_arrays import checked_csr, matrix_source  # noqa: PLC0415

    values = values.to_numpy() if hasattr(values, "to_numpy") else values  # obsm may hold data frames
    if hasattr(values, "tocsr"):
        values = checked_csr(path, values)
    name_column = next(
        name for name in (cells.index.name, "cell", "cell name", "row name") if name not in cells.columns and name
    )
    others = pa.Table.from_pandas(cells.reset_index(names=name_column), preserve_index=False)
    source = matrix_source(path, values, others, Wanted(label=wanted.label), check_room)
    return Source(path, source.values, (name,), others)


def choose_representation(path: Path, file: Any, asked: str | None) -> str:
    known = list(file.get("obsm", {}))
    if asked is None or asked == MATRIX:
        if MATRIX not in file:
            raise FileError(path, f"has no X; choose one of {', '.join(known) or 'no others, either'} with --rep")
        return MATRIX
    if asked not in known:
        raise FileError(path, f"has no {asked!r} in obsm; it has {', '.join(known) or 'none'}, and X")
    return f"obsm/{asked}"


def check_size(path: Path, h5py: Any, file: Any, names: tuple[str, ...]) -> None:
    """Of what is unpacked, which a small file may tell to be more than any machine has."""
    sizes: list[int] = []

    def count(_name: str, part: Any) -> None:
        if isinstance(part, h5py.Dataset):
            sizes.append(int(part.size) * part.dtype.itemsize)

    for name in names:
        count(name, file[name])
        if isinstance(file[name], h5py.Group):
            file[name].visititems(count)
    needed, there = sum(sizes), available()
    if needed > there:
        raise FileError(path, f"unpacks to {needed / GIGABYTE:.1f} GB, {there / GIGABYTE:.1f} GB are available")
