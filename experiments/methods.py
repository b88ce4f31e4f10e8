"""The paper's systems and ours, by the names in the tables."""

from dataclasses import dataclass, field
from typing import Any

from pixelsne import PixelSNE


@dataclass(frozen=True)
class Method:
    title: str
    preset: str | None = None
    changes: dict[str, Any] = field(default_factory=dict)
    max_points: int | None = None  # with more points, a run would take too long

    def model(self, resolution: int, seed: int, threads: int) -> PixelSNE:
        parameters = {"resolution": resolution, "random_state": seed, "n_jobs": threads, **self.changes}
        return PixelSNE(**parameters) if self.preset is None else PixelSNE.preset(self.preset, **parameters)


METHODS = {
    "t-sne": Method("t-SNE", "t-sne", max_points=30_000),
    "bh-sne": Method("BH-SNE", "bh-sne", max_points=100_000),
    "pixelsne-vp": Method("PixelSNE-VP", "pixelsne-vp", max_points=100_000),
    "pixelsne-rp": Method("PixelSNE-RP", "pixelsne-rp"),
    # With the affinities of PixelSNE-RP, so that only the tree differs in Coord. It also replaces BH-SNE where a
    # vantage-point tree would search for hours.
    "bh-sne-rp": Method("BH-SNE on RP's P", "bh-sne", {"neighbors": "rp-forest"}),
    "pixelsne-rp-mass": Method("PixelSNE-RP, centers of mass", "pixelsne-rp", {"center": "mass"}),
    "ours": Method("ours (defaults)"),
    # The paper's perplexity, for comparisons of precision.
    "ours-50": Method("ours, perplexity 50", None, {"perplexity": 50}),
}
