"""Find places for names: none overlaps another, each covers the position that it names."""

from collections.abc import Iterable, Iterator

Box = tuple[float, float, float, float]  # left, bottom, right, top
Size = tuple[float, float]  # width, height
Point = tuple[float, float]

# Positions that are tried, as shifts of a name's center in shares of its size. All cover the anchor.
SHIFTS = (
    (0.0, 0.0),
    (0.0, 0.4),
    (0.0, -0.4),
    (0.3, 0.0),
    (-0.3, 0.0),
    (0.3, 0.4),
    (-0.3, 0.4),
    (0.3, -0.4),
    (-0.3, -0.4),
)


class NameLayout:
    """The boxes of names in an area, which must not overlap."""

    def __init__(self, area: Box, gap: float) -> None:
        self.area, self.gap = area, gap
        self.boxes: list[Box] = []

    def place(self, anchor: Point, size: Size, shifts: Iterable[Point] = SHIFTS) -> Box | None:
        """Return the first free box of this size that covers the anchor, and occupy it; None if there is none."""
        for box in self._candidates(anchor, size, shifts):
            if not any(self._overlap(box, other) for other in self.boxes):
                self.boxes.append(box)
                return box
        return None

    def _candidates(self, anchor: Point, size: Size, shifts: Iterable[Point]) -> Iterator[Box]:
        left, bottom, right, top = self.area
        inside = left <= anchor[0] <= right and bottom <= anchor[1] <= top
        if not inside or size[0] > right - left or size[1] > top - bottom:
            return
        for across, up in shifts:
            x = min(max(anchor[0] + (across - 0.5) * size[0], left), right - size[0])
            y = min(max(anchor[1] + (up - 0.5) * size[1], bottom), top - size[1])
            yield x, y, x + size[0], y + size[1]

    def _overlap(self, first: Box, second: Box) -> bool:
        gap = self.gap
        return (
            first[0] < second[2] + gap
            and second[0] < first[2] + gap
            and first[1] < second[3] + gap
            and second[1] < first[3] + gap
        )
