"""Task results that report their size. Dask's scheduler needs it, because it prefers to move small results."""

import sys
from typing import Any

import numpy as np


class Sized:
    """Base of a dataclass of arrays, or of lists of arrays. Dask calls sys.getsizeof, which calls `__sizeof__`."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(size_of(value) for value in vars(self).values())


def size_of(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    return sum(map(size_of, value)) if isinstance(value, list) else sys.getsizeof(value)


def aligned(array: Any) -> Any:
    """Return the array at an aligned address: one that came over the network may be at any address."""
    return np.require(array, None, ["C", "A"])
