"""``rescaleinv demo``: the three examples of the paper, and a data set that ships, each proved."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.two_rescalings import neutral_certificate
from rescaleinv.datasets import load
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.theory.invariance import check_invariance
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verify import check

# The first rows of the data set are the training set; all others are the points to be judged.
_TRAINING_ROWS = 40


def run_demo(_: argparse.Namespace) -> None:
    """Print the examples, with proofs."""
    _paper_examples()
    print()
    _breast_cancer()


def _breast_cancer() -> None:
    features, labels, names = load("breast_cancer_wisconsin")
    found = separable_subset(TrainingSet(features[:_TRAINING_ROWS], labels[:_TRAINING_ROWS], feature_names=names))
    training_set, points, truth = found.training_set, features[_TRAINING_ROWS:], labels[_TRAINING_ROWS:]
    print(f"Breast cancer (Wisconsin): {len(training_set)} of the first {_TRAINING_ROWS} tumours teach an SVM to tell")
    print(f"benign (+1) from malignant; the other {len(points)} are judged under every rescaling of the 9 features:")
    engine = ComplexEngine(training_set, left_out=len(found.dropped))
    verdicts = engine.certify(points)
    labels_of_svm = np.where(minimal_norm_svm(training_set).decision_function(points) >= 0, 1, -1)
    for name, mask in (
        ("benign, whatever the scaling", verdicts.strongly_positive),
        ("malignant, whatever the scaling", verdicts.strongly_negative),
        ("depends on the scaling: look again", verdicts.neutral),
        ("not decided", verdicts.unknown),
    ):
        if mask.any():
            right = (labels_of_svm == truth)[mask].mean()
            print(f"  {mask.sum():4d}  {name:36s} the plain SVM is right about {right:.1%} of them")
    with tempfile.TemporaryDirectory() as folder:
        proof = engine.prove(Path(folder) / "complex.jsonl")
    proved = engine.certify(points[verdicts.strong]).prove()
    n_proved = (proved.status == "proved").sum()
    print(f"  ({proof.n_vertices:,} vertices of the set of all SVMs were compared; exact arithmetic shows that none is")
    print(f"  missing, which proves {n_proved} of the {len(proved)} verdicts that hold for every scaling)")
    i = int(np.flatnonzero(verdicts.neutral)[0])
    witness = verdicts.witness(i)
    print(
        f"Tumour {_TRAINING_ROWS + i} is one that depends on it. Multiply the features by these factors and train an SVM:"
    )
    width = max(map(len, names))
    print(f"  {'':{width}}  {'value':>7} {'→ benign':>12} {'→ malignant':>12}")
    # a common factor of all features changes nothing: it is taken out, so that the two columns can be compared
    positive, negative = (factors / np.exp(np.log(factors).mean()) for factors in (witness.positive, witness.negative))
    for name, value, up, down in zip(names, points[i], positive, negative, strict=True):
        print(f"  {name:{width}}  {value:7g} {up:12.3g} {down:12.3g}")
    print(f"The certificate says {check(witness.certificate.to_json())!r}, checked in exact arithmetic.")


def _paper_examples() -> None:
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
