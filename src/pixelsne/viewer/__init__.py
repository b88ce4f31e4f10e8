"""Maps in the browser: `show` displays a finished map, `watch` displays a map while it is being fitted.

>>> from pixelsne import viewer
>>> view = viewer.show(model, columns={"label": labels})    # doctest: +SKIP
>>> view.selection                                          # doctest: +SKIP
"""

from pixelsne.viewer.show_map import show
from pixelsne.viewer.view import View
from pixelsne.viewer.watch_run import watch

__all__ = ["View", "show", "watch"]
