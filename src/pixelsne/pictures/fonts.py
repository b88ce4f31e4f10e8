"""Check that a font is installed, and that it has the characters of names."""

import warnings
from collections.abc import Iterable

from matplotlib import font_manager, rcParams

MAX_NAMED = 8  # characters, or fonts, in a message


def check_font(font: str | None) -> None:
    """Raise ValueError if a font is not installed."""
    if font is None:
        return
    known = sorted({entry.name for entry in font_manager.fontManager.ttflist})
    if font not in known and font not in font_manager.font_family_aliases:
        some = ", ".join(known[:MAX_NAMED]) + (", …" if len(known) > MAX_NAMED else "")
        raise ValueError(f"font {font!r} is not installed; Matplotlib finds {some}")


def warn_of_missing_glyphs(texts: Iterable[str], font: str | None) -> None:
    """Warn once, with the name of the font, if it lacks characters of the texts."""
    families = [font] if font is not None else list(rcParams["font.family"])
    properties = font_manager.FontProperties(family=families)
    paths = font_manager.fontManager._find_fonts_by_props(properties)  # noqa: SLF001 - findfont returns the first only
    fonts = [font_manager.get_font(path) for path in paths]
    wanted = {character for text in texts for character in text if character.isprintable() and character != " "}
    for known in fonts:
        wanted -= {chr(code) for code in known.get_charmap()}
    if wanted:
        some = " ".join(sorted(wanted)[:MAX_NAMED]) + (" …" if len(wanted) > MAX_NAMED else "")
        warnings.warn(
            f"font {fonts[0].family_name!r} lacks {len(wanted)} characters of the names, such as {some}; "
            "choose an installed font that has them, or they are drawn as boxes",
            stacklevel=2,
        )
