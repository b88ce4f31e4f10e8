"""Break long names into lines."""

import textwrap

from pixelsne.coloring import without_controls

LONGEST_LINE = 20  # characters
SHORTEST_LINE = 12
MAX_LINES = 3
SEPARATOR = " · "
NO_BREAK = "\u00a0"


def wrap(name: str) -> str:
    """Return the name in up to MAX_LINES lines of similar length; what does not fit becomes an ellipsis."""
    words = " ".join(without_controls(name).split()).replace(SEPARATOR, f"{NO_BREAK}· ")
    if len(words) <= LONGEST_LINE:
        return words.replace(NO_BREAK, " ")
    lines = -(-len(words) // LONGEST_LINE)
    width = min(max(len(words) // min(lines, MAX_LINES) + 3, SHORTEST_LINE), LONGEST_LINE + 4)
    broken = textwrap.wrap(words, width, max_lines=MAX_LINES, placeholder="…", break_on_hyphens=False)
    return "\n".join(line.removesuffix(f"{NO_BREAK}·").replace(NO_BREAK, " ") for line in broken)
