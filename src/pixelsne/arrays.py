"""Names for the arrays that stages exchange."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float32]  # (n, d), C-contiguous
Positions = NDArray[np.float32]  # (n, 2), C-contiguous, embedding units
ScreenPositions = NDArray[np.float32]  # (n, 2), pixels with fractions
Pixels = NDArray[np.int32]  # (n, 2), whole pixels
AnyArray = NDArray[Any]
