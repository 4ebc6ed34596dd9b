"""Branch and bound over every rescaling against the enumeration and against classifiers of value 0; its budgets."""

import made_sets
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from rescaleinv.engines.branch.free.engine import TreeEngine
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.errors import CertificateError, InputError
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check

EXAMPLE = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


def points_of(training_set, seed, count=10):
    """Values of the training rows, mixed, and half of them moved by quarters of the ranges."""
    rng = np.random.default_rng([11, seed])
    rows = training_set.features
    mixed = np.column_stack([rng.choice(column, count) for column in rows.T])
    steps = rng.integers(-2, 3, mixed.shape) * (np.ptp(rows, axis=0) / 4)
    return mixed + steps * (np.arange(count) % 2)[:, None]


@pytest.mark.parametrize("maker", sorted(made_sets.MAKERS))
def test_verdicts_are_those_of_the_enumeration(maker):
    decided = 0
    for seed in (2, 11):
        training_set = made_sets.MAKERS[maker](seed)
        points = points_of(training_set, seed, 8)
        true = ComplexEngine(training_set).certify(points)
        found = TreeEngine(training_set, max_programs=300).certify(points)
        known = ~found.unknown
        np.testing.assert_array_equal(found.code[known], true.code[known])
        assert all(found.reason[~known])
        decided += int(known.sum())
        for i in np.flatnonzero(known)[:3].tolist():
            assert check(found.certificate(i).to_json()) == found[i].name.lower().replace("_", " ")
    assert decided >= 6  # of 16


@pytest.mark.parametrize("maker", ["integer_ties", "binary", "duplicated_rows"])
def test_a_point_on_a_classifier_is_never_strong(maker):
    """The middle between two tight rows of unlike classes has the value 0 at that rescaling: no strict proof may exist."""
    rng = np.random.default_rng(7)
    tried = 0
    for seed in range(5):
        training_set = made_sets.MAKERS[maker](seed)
        engine = TreeEngine(training_set, max_programs=200)
        svm = minimal_norm_svm(training_set, made_sets.random_rescaling(rng, training_set.n_features, 1))
        tight = svm.tight_rows()
        up, down = (tight[training_set.signs[tight] == side] for side in (1, -1))
        middle = (training_set.features[up[0]] + training_set.features[down[0]]) / 2
        if np.array_equal(middle * 2 - training_set.features[up[0]], training_set.features[down[0]]):
            tried += 1
            assert engine.decide(middle).certificate is None
    assert tried >= 3


@pytest.mark.parametrize(("name", "rows"), [("pima_diabetes", 120), ("breast_cancer_wisconsin", 80)])
def test_real_data_against_the_enumeration(name, rows):
    training_set, points = made_sets.drawn_from(name, 1, rows)
    found = TreeEngine(training_set, max_programs=900).certify(points[:10])
    true = ComplexEngine(training_set).certify(points[:10])
    known = ~found.unknown
    np.testing.assert_array_equal(found.code[known], true.code[known])
    assert known.sum() >= 6
    assert (found.prove().status[known] == "proved").all()


def test_many_features_are_proved_and_samples_do_not_contradict():
    features, labels = load_breast_cancer(return_X_y=True)
    training_set = TrainingSet(features[:150, :20], labels[:150])
    points = features[156:164, :20]
    found = TreeEngine(training_set, max_programs=100).certify(points)
    assert found.strong.sum() >= 3
    assert (found.prove().status[found.strong] == "proved").all()
    rng = np.random.default_rng(0)
    for _ in range(30):
        svm = minimal_norm_svm(
            training_set, made_sets.random_rescaling(rng, 20, 2) / np.ptp(training_set.features, axis=0)
        )
        signs = np.where(svm.decision_function(points) >= 0, 1, -1)
        assert (signs[found.strong] == found.code[found.strong]).all()


def test_neutral_points_come_with_two_rescalings():
    engine = TreeEngine(EXAMPLE)
    assert engine.certify([[-1, 4]])[0] is Verdict.NEUTRAL
    witness = engine.explain([-1, 4])
    assert check(witness.certificate.to_json()) == "neutral"
    signs = [
        minimal_norm_svm(EXAMPLE, tau).decision_function([[-1, 4]])[0] for tau in (witness.positive, witness.negative)
    ]
    assert signs[0] > 0 > signs[1]
    with pytest.raises(CertificateError, match="not neutral"):
        engine.explain([3, 3])


def test_a_tie_is_unknown_with_its_reason():
    engine = TreeEngine(TrainingSet([[1, 1], [-1, -1]], [1, -1]))
    verdicts = engine.certify([[0, -1], [0, 0]])
    assert verdicts.unknown.all()
    assert all("0" in reason and "tie" in reason for reason in verdicts.reason)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"time_limit": 0}, "time_limit"), ({"max_programs": 0}, "max_programs"), ({"left_out": -1}, "left_out")],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        TreeEngine(EXAMPLE, **arguments)
