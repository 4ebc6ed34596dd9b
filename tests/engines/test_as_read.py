"""Engines for the data as written: the same verdicts in all units, witnesses in given units, certificates with a reading."""

import json
from fractions import Fraction

import numpy as np
import pytest
from made_sets import drawn_from
from sklearn.svm import SVC

from rescaleinv import RescaleInvariantSVC, minimal_norm_svm
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.datasets import load
from rescaleinv.engines.as_read import ReadingEngine
from rescaleinv.verify import Refused, check

DECIMALS = np.array([[0.1, 2.5], [0.3, 0.2], [0.7, 1.1], [1.1, 0.4], [0.2, 0.9], [0.9, 1.7]])
LABELS = np.array([-1, 1, 1, 1, -1, 1])
POINTS = np.array([[0.4, 1.9], [0.6, 0.1], [-0.9, 2.9], [1.3, 1.3], [0.5, 3.3], [0.25, 1.234567]])


def standardised(rows):
    mean, deviation = DECIMALS.mean(axis=0), DECIMALS.std(axis=0)
    return (rows - mean) / deviation


FORMS = {"decimal": lambda rows: rows, "grid": standardised, "tenths": lambda rows: rows * 0.1}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@pytest.fixture(scope="module")
def truth():
    """The same data in whole numbers, for which nothing has to be read."""
    return RescaleInvariantSVC(engine="complex").fit(np.rint(10 * DECIMALS), LABELS).certify(10 * POINTS[:5])


@each_form
def test_verdicts_and_intervals_do_not_depend_on_the_units(form, truth):
    model = RescaleInvariantSVC(engine="complex").fit(form(DECIMALS), LABELS)
    assert isinstance(model.engine_.engine, ReadingEngine)
    verdicts = model.certify(form(POINTS[:5]))
    assert verdicts.code.tolist() == truth.code.tolist()
    assert verdicts.lower == pytest.approx(truth.lower, rel=1e-12, abs=1e-12)
    assert verdicts.upper == pytest.approx(truth.upper, rel=1e-12, abs=1e-12)
    assert len({*truth.code.tolist()}) == 3


@each_form
def test_a_plain_svm_at_the_witness_in_given_units(form):
    rows, points = form(DECIMALS), form(POINTS)
    verdicts = RescaleInvariantSVC(engine="complex").fit(rows, LABELS).certify(points)
    assert verdicts.neutral.any()
    for i in np.flatnonzero(verdicts.neutral).tolist():
        witness = verdicts.witness(i)
        for factors, sign in ((witness.positive, 1), (witness.negative, -1)):
            svm = SVC(kernel="linear", C=1e9, tol=1e-8).fit(rows * factors, LABELS)
            assert sign * svm.decision_function([points[i] * factors])[0] > 0


@each_form
def test_every_certificate_is_accepted_and_its_question_is_the_point_that_was_given(form, tmp_path):
    points = form(POINTS)
    model = RescaleInvariantSVC(engine="complex").fit(form(DECIMALS), LABELS)
    model.prove(tmp_path / "complex.jsonl")
    verdicts = model.certify(points)
    assert set(verdicts.prove().status) == {"proved"}
    neutral = int(np.flatnonzero(verdicts.neutral)[0])
    claim = check(verdicts.certificate(neutral).to_json())
    assert claim.question.point == tuple(Fraction(x) for x in points[neutral].tolist())
    assert "numbers as written" in str(claim.question)


def test_read_as_float_takes_every_float_at_its_word():
    model = RescaleInvariantSVC(engine="complex", read_as="float").fit(DECIMALS, LABELS)
    assert not isinstance(model.engine_.engine, ReadingEngine)
    content = model.certify(POINTS).certificate(0).content
    assert "reading" not in content["training"]
    assert Fraction(content["training"]["rows"][0][0]) == Fraction(0.1)


def test_limited_ranges_certify_the_decimals_in_their_own_units():
    verdicts = RescaleInvariantSVC(scale_range=1.1).fit(DECIMALS, LABELS).certify(POINTS[:2])
    content = verdicts.certificate(0).content
    assert content["training"]["rows"][0] == ["1/10", "5/2"]
    assert content["point"] == ["2/5", "19/10"]
    assert content["training"]["reading"][0]["unit"] == "1"
    assert set(verdicts.prove().status) == {"proved"}


def test_the_extreme_classifiers_are_those_of_given_units():
    model = RescaleInvariantSVC(engine="complex").fit(standardised(DECIMALS), LABELS)
    points = standardised(POINTS)
    extremes = model.engine_.engine.extremes()
    values = extremes.conditioning.apply(points) @ extremes.solutions[:, :-1].T + extremes.solutions[:, -1]
    verdicts = model.certify(points)
    assert values.min(axis=1) == pytest.approx(verdicts.lower, rel=1e-9, abs=1e-9)
    assert values.max(axis=1) == pytest.approx(verdicts.upper, rel=1e-9, abs=1e-9)


def test_a_saved_model_reads_alike(tmp_path):
    for read_as in ("written", "float"):
        model = RescaleInvariantSVC(engine="complex", read_as=read_as).fit(standardised(DECIMALS), LABELS).precompute()
        model.save(tmp_path / "model")
        again = RescaleInvariantSVC.load(tmp_path / "model")
        assert again.training_set_.reading == model.training_set_.reading
        points = standardised(POINTS)
        assert again.certify(points).code.tolist() == model.certify(points).code.tolist()


# --- planted lies ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate():
    verdicts = RescaleInvariantSVC(engine="complex").fit(standardised(DECIMALS), LABELS).certify(standardised(POINTS))
    return verdicts.certificate(int(np.flatnonzero(verdicts.neutral)[0])).content


def given(content, value):
    content["training"]["reading"][0]["given"][1] = value


LIES = {
    "another unit": (lambda c: c["training"]["reading"][0].update(unit="2"), "differs from the number given"),
    "another origin": (lambda c: c["training"]["reading"][0].update(origin="5"), "differs from the number given"),
    "a negative unit": (lambda c: c["training"]["reading"][0].update(unit="-1/3"), "unit is not positive"),
    "another float": (lambda c: given(c, "1/3"), "row 1 differs from the number given by more than the rounding"),
    "a rounding of one": (lambda c: c["training"]["reading"][0].update(rounding="1"), "more than rounding can be"),
    "a rounding below zero": (
        lambda c: c["training"]["reading"][0].update(rounding="-1/9"),
        "more than rounding can be",
    ),
    "no rounding": (lambda c: c["training"]["reading"][0].update(rounding="0"), "differs from the number given"),
    "another point": (lambda c: c["given_point"].__setitem__(0, "7"), "given_point.0. differs from the point"),
    "no given point": (lambda c: c.pop("given_point"), "given_point is missing"),
    "no reading": (lambda c: c["training"].pop("reading"), "the training rows have no reading"),
    "a feature without its reading": (lambda c: c["training"]["reading"].__setitem__(0, None), "has no reading"),
    "too few readings": (lambda c: c["training"]["reading"].pop(), "one entry per feature"),
    "too few floats": (lambda c: c["training"]["reading"][0]["given"].pop(), "6 numbers are needed"),
    "one field more": (lambda c: c["training"]["reading"][0].update(kind="grid"), "a field 'kind' that is not known"),
    "not a list": (lambda c: c["training"].update(reading={}), "one entry per feature"),
}


@pytest.mark.parametrize(("lie", "message"), LIES.values(), ids=LIES)
def test_a_lie_about_the_reading_is_refused(certificate, lie, message):
    content = json.loads(json.dumps(certificate))
    assert check(Certificate(content).to_json()) == "neutral"
    lie(content)
    with pytest.raises(Refused, match=message):
        check(Certificate(content).to_json())


# --- shipped data --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["blood_transfusion", "fertility", "banknote", "pima_diabetes"])
def test_shipped_data_in_six_forms(name):
    """A sample of what benchmarks/reading.py asks: no verdict depends on the units."""
    training_set, points = drawn_from(name, 3)
    rows, labels, points = training_set.features, training_set.signs, points[:60]
    spread = np.where(np.ptp(rows, axis=0) > 0, np.ptp(rows, axis=0), 1)
    expected = RescaleInvariantSVC(engine="complex").fit(rows, labels).certify(points).code.tolist()
    forms = [
        lambda x: (x - rows.mean(axis=0)) / np.where(rows.std(axis=0) > 0, rows.std(axis=0), 1),
        lambda x: (x - rows.min(axis=0)) / spread,
        lambda x: x * 0.1,
        lambda x: x * 2.54,
    ]
    for form in forms:
        assert (
            RescaleInvariantSVC(engine="complex").fit(form(rows), labels).certify(form(points)).code.tolist()
            == expected
        )


UNITS = {
    "raw": lambda X: X,
    "tenths": lambda X: X * 0.1,
    "standardised": lambda X: (X - X.mean(axis=0)) / X.std(axis=0),
}
CHOSEN = list(range(9))


def fitted_in(form):
    features, labels, _ = load("breast_cancer_wisconsin")
    table = UNITS[form](features[:, CHOSEN])
    model = RescaleInvariantSVC(inconsistent="drop", time_limit=None).fit(table[:30], labels[:30])
    return model, table[30:90]


@pytest.mark.parametrize("form", UNITS)
def test_svms_retrained_at_the_witness_in_given_units_disagree(form):
    model, points = fitted_in(form)
    verdicts = model.certify(points)
    tried = 0
    for i in np.flatnonzero(verdicts.neutral)[:8]:
        witness = verdicts.witness(i)
        assert check(witness.certificate.to_json()) == "neutral"
        for rescaling, sign in ((witness.positive, 1), (witness.negative, -1)):
            svm = minimal_norm_svm(model.training_set_, rescaling)
            value = points[i] @ svm.weights + svm.intercept
            assert sign * value > -1e-6
            tried += abs(value) > 1e-6
    assert tried > 4


@pytest.mark.parametrize("form", ["tenths", "standardised"])
def test_verdicts_are_those_of_the_raw_data(form):
    raw, raw_points = fitted_in("raw")
    other, points = fitted_in(form)
    assert other.training_set_.reading.changes
    assert (other.certify(points).code == raw.certify(raw_points).code).all()
