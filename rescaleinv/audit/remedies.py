"""What helps against each cause of labels that changed, in words."""

from __future__ import annotations

from rescaleinv.audit.chain import INTERCEPT, LOSS, MARGIN, PENALTY, SOLVER, ModelChain, PairChain


def helps(cause: str, chain: PairChain) -> str:
    """One sentence for a cause that changed labels of this pair of models."""
    if cause == SOLVER:
        return _solver([model for model, count in _sides(cause, chain) if count] or [chain.first, chain.second])
    if cause == INTERCEPT:
        return (
            "What helps against the penalised intercept: centre the features (StandardScaler does), or a larger "
            "intercept_scaling (100), or SVC(kernel='linear'), whose intercept is free."
        )
    if cause == LOSS:
        return "What helps against different losses: choose one (LinearSVC has loss='hinge' and loss='squared_hinge')."
    if cause == PENALTY:
        return _penalty(chain)
    assert cause == MARGIN
    return (
        "What helps where the margin moved: no solver and no C; decide in which units the features are meant, or do not "
        "label these rows."
    )


def _sides(cause: str, chain: PairChain) -> list[tuple[ModelChain, int]]:
    return list(zip((chain.first, chain.second), chain.changed_by(cause), strict=True))


def _solver(models: list[ModelChain]) -> str:
    advice = ["standardise the features"]
    limits = {getattr(model.model, "max_iter", -1) for model in models if model.stopped}
    if limits:
        advice.append(f"a larger max_iter (now {', '.join(map(str, sorted(limits)))})")
    else:
        advice.append("a smaller tol")
    if any(getattr(model.model, "loss", "") == "squared_hinge" for model in models):
        advice.append("dual=False, which solves the primal")
    elif any(type(model.model).__name__ == "LinearSVC" for model in models):
        advice.append("SVC(kernel='linear'), or loss='squared_hinge' with dual=False")
    return f"What helps against a solver that stopped early: {', or '.join(advice)}."


def _penalty(chain: PairChain) -> str:
    first, second = chain.first, chain.second
    if first.objective.loss == second.objective.loss == "nu":
        return f"What helps against a different C: the same nu ({first.objective.nu:g}) for both."
    wanted = "a hard margin" if chain.penalty == float("inf") else f"C={chain.penalty:.4g}"
    return (
        f"What helps against a different C: the features of {second.name} are those of {first.name} times "
        f"{chain.factor:.4g} in the median, so {wanted} there means what C={first.penalty:.4g} means for {first.name}; or "
        "choose C by cross-validation after each scaling."
    )
