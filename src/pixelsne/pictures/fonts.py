"""Check that a font is installed, and that it has the characters of names."""

import warnings
from collections.abc import Iterable

from matplotlib import font_manager, rcParams

MOST_NAMED = 8  # characters, or fonts, in a message
CONTROL_BELOW = 32


def check_font(font: str | None) -> None:
    """Raise ValueError if a font is not installed."""
    if font is None:
        return
    known = sorted({entry.name for entry in font_manager.fontManager.ttflist})
    if font not in known and font not in font_manager.font_family_aliases:
        some = ", ".join(known[:MOST_NAMED]) + (", …" if len(known) > MOST_NAMED else "")
        raise ValueError(f"font {font!r} is not installed; Matplotlib finds {some}")


def warn_of_missing_glyphs(texts: Iterable[str], font: str | None) -> None:
    """Warn once, with the name of the font, if it lacks characters of the texts."""
    families = [font] if font is not None else list(rcParams["font.family"])
    wanted = {character for text in texts for character in text if ord(character) >= CONTROL_BELOW}
    for path in font_manager.fontManager._find_fonts_by_props(font_manager.FontProperties(families)):  # noqa: SLF001
        wanted -= {chr(code) for code in font_manager.get_font(path).get_charmap()}
    if wanted:
        some = " ".join(sorted(wanted)[:MOST_NAMED]) + (" …" if len(wanted) > MOST_NAMED else "")
        warnings.warn(
            f"font {families[0]!r} lacks {len(wanted)} characters of the names, such as {some}; they are drawn as boxes; "
            "choose an installed font that has them",
            stacklevel=2,
        )
