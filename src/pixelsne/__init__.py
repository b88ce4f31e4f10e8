"""t-SNE maps of high-dimensional data, in the pixels of a screen.

>>> from pixelsne import PixelSNE
>>> model = PixelSNE(resolution=(1024, 768), random_state=0)

`PixelSNE` is the estimator; `pixelsne.quality` measures how good a map is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pixelsne.anndata_io import store_in_anndata
    from pixelsne.descent_loop import Snapshot
    from pixelsne.estimator import PixelSNE
    from pixelsne.screen import Screen
    from pixelsne.seeds import compare_seeds

__version__ = "0.2.0"

# Public names and their modules. A module is imported when its name is first used, so that `import pixelsne` is fast.
_MODULES = {
    "PixelSNE": "pixelsne.estimator",
    "Screen": "pixelsne.screen",
    "Snapshot": "pixelsne.descent_loop",
    "compare_seeds": "pixelsne.seeds",
    "quality": "pixelsne.quality",
    "store_in_anndata": "pixelsne.anndata_io",
}

__all__ = ["PixelSNE", "Screen", "Snapshot", "__version__", "compare_seeds", "store_in_anndata"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'pixelsne' has no attribute {name!r}")
    module = import_module(_MODULES[name])
    return module if _MODULES[name] == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
