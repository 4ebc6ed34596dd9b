"""``rescaleinv demo``: the three examples of the paper, each proved."""

from __future__ import annotations

from rescaleinv.evidence import neutral_certificate
from rescaleinv.invariance import check_invariance
from rescaleinv.problem import FloatArray, TrainingSet
from rescaleinv.svm import minimal_norm_svm
from rescaleinv.verify import check


def run_demo() -> None:
    rows, labels = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]
    training_set = TrainingSet(rows, labels)
    point = [-1, 4]
    print("Example 1. Three positive points and a negative one in the plane:")
    plain = minimal_norm_svm(training_set)
    print(f"  the SVM is {_formula(plain.weights, plain.intercept)}")
    print("Example 2. The same data with the first feature in a unit five times smaller, τ = (5, 1):")
    stretched = minimal_norm_svm(training_set, rescaling=[5, 1])
    print(f"  the SVM, in the old units, is {_formula(stretched.weights, stretched.intercept)}")
    values = [float(svm.decision_function([point])[0]) for svm in (plain, stretched)]
    print(
        f"  the point (-1, 4) has the value {values[0]:g} (positive) in one and {values[1]:g} (negative) in the other:"
    )
    certificate = neutral_certificate(training_set, point, [1, 1], [5, 1])
    print(f"  its label is an accident of units: {check(certificate.to_json())}, checked in exact arithmetic")
    print("Example 3. Without the point (7/5, 7/5):")
    invariance = check_invariance(TrainingSet([rows[0], rows[1], rows[3]], [1, 1, -1]))
    assert invariance.weights is not None
    assert invariance.intercept is not None
    print(f"  every rescaling gives {_formula(invariance.weights, invariance.intercept)}: no label depends on units")


def _formula(weights: FloatArray, intercept: float) -> str:
    """The line w·x + b = 0 as one writes it by hand; both weights are positive in the examples."""
    first, second = ("" if weight == 1 else f"{weight:g} " for weight in weights)
    return f"{first}x1 + {second}x2 {'+' if intercept >= 0 else '-'} {abs(intercept):g} = 0"
