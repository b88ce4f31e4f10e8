"""Store a map in an AnnData object, the table of cells that scanpy works with."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from pixelsne.files.hdf5_child import OBSM_KEY
from pixelsne.files.maps import METADATA_KEY, Map, flip_y
from pixelsne.files.model import run_metadata

if TYPE_CHECKING:
    from pixelsne.estimator import PixelSNE


def store_in_anndata(adata: Any, model: "PixelSNE") -> None:
    """Store the map of a fitted model in `adata`, as `pixelsne embed` stores it in an h5ad file.

    `adata.obsm["X_pixelsne"]` gets (n, 2) pixels from the bottom left: y points upward, as in scanpy's plots, so that
    `sc.pl.embedding(adata, basis="pixelsne")` shows the same picture as `pixelsne plot`. (`embedding_` counts from the
    top left, as screens do.) `adata.uns["pixelsne"]` gets the settings, the version and the orientation as JSON.
    """
    check_is_fitted(model)
    if adata.n_obs != len(model.embedding_):
        raise ValueError(
            f"adata has {adata.n_obs:,} cells, the map {len(model.embedding_):,} points; "
            "pass the cells that the model was fitted to"
        )
    metadata = {**run_metadata(model), "unit_per_pixel": list(model.screen_.unit_per_pixel)}
    map_ = Map(model.embedding_, model.screen_.resolution, metadata=metadata)
    adata.obsm[OBSM_KEY] = flip_y(map_.placed, map_.resolution)
    adata.uns[METADATA_KEY] = map_.metadata_json_y_up()
