"""Explain unknown parameters: the error for a parameter of another library names its counterpart here."""

from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

DIMENSIONS = 2

Constructor = TypeVar("Constructor", bound=Callable[..., None])

OWN_DISTANCES = (
    "give the distances themselves: metric='precomputed' with a square matrix, or a sparse graph as "
    "sklearn.neighbors.kneighbors_graph(..., mode='distance') makes it"
)
TIGHTER = "exaggeration=2 or more draws clusters tighter"

# From scikit-learn, openTSNE, umap-learn, bhtsne and FIt-SNE.
INSTEAD = {
    "n_iter": "use max_iter",
    "n_epochs": "use max_iter",
    "initialization": "use init",
    "method": "use repulsion, for example repulsion='exact'",
    "negative_gradient_method": "use repulsion, for example repulsion='exact'",
    "angle": "use theta",
    "min_dist": f"t-SNE has none; {TIGHTER}",
    "spread": f"t-SNE has none; {TIGHTER}",
    "dof": "it is always 1, as in t-SNE",
    "degrees_of_freedom": "it is always 1, as in t-SNE",
    "callbacks": "use callback, one function that is called after every iteration",
    "callbacks_every_iters": "callback is called after every iteration; look at snapshot.iteration in it",
    "precomputed_knn": OWN_DISTANCES,
    "metric_params": OWN_DISTANCES,
    "metric_kwds": OWN_DISTANCES,
    "n_iter_without_progress": "use tol",
    "min_grad_norm": "use tol",
    "initial_momentum": "use momentum=(early, late)",
    "final_momentum": "use momentum=(early, late)",
    "max_step_norm": "use step_limit",
    "max_grad_norm": "use step_limit",
    "dims": "use n_components",
    "n_dims": "use n_components",
    "no_dims": "use n_components",
    "initial_dims": "use n_pca",
    "n_dim": "use n_components",
    "seed": "use random_state",
    "n_threads": "use n_jobs",
    "num_threads": "use n_jobs",
    "nthreads": "use n_jobs",
}


def explain(name: str, known: list[str]) -> str:
    """Return the error text for an unknown parameter, with what to use instead."""
    if name in INSTEAD:
        return f"PixelSNE has no parameter {name!r}: {INSTEAD[name]}"
    similar = get_close_matches(name, known, 1)
    remedy = f"did you mean {similar[0]!r}?" if similar else f"it has {', '.join(known)}"
    return f"PixelSNE has no parameter {name!r}; {remedy}"


def explain_unknown_parameters(init: Constructor) -> Constructor:
    """Decorate a constructor with keyword-only parameters. scikit-learn and `help` still see its signature."""
    known = [name for name, item in signature(init).parameters.items() if item.kind is Parameter.KEYWORD_ONLY]

    @wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        if args:
            given = ", ".join(f"{value!r:.40}" for value in args)
            raise TypeError(f"PixelSNE takes its parameters by name, as n_components=2 or resolution=1024; got {given}")
        # n_components is not a parameter of PixelSNE: scikit-learn's checks would set it to 1.
        dimensions = kwargs.pop("n_components", DIMENSIONS)
        if dimensions != DIMENSIONS:
            raise ValueError(f"n_components={dimensions!r} is not available; maps have two dimensions, n_components=2")
        for name in kwargs:
            if name not in known:
                raise TypeError(explain(name, known))
        init(self, **kwargs)

    return cast("Constructor", checked)
