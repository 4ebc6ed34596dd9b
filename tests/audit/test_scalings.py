"""Labels after the usual scalings against scikit-learn's SVM; factors read off the rows; what can't be done is a note."""

import numpy as np
import pytest
from plain_svm import hard_svm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from rescaleinv import ComplexEngine, RescaleInvariantSVC, TrainingSet, scaling_audit
from rescaleinv.audit import named_scalings
from rescaleinv.audit.scalings import RAW, ScalingResult, labels_after
from rescaleinv.selection import FisherRatioSelector


@pytest.mark.parametrize("name", list(named_scalings())[:9])
def test_labels_are_those_of_scikit_learns_svm(audit, tumours, name):
    training_set, points = audit.model.training_set_, tumours[0][30:110].to_numpy()
    transformer = named_scalings()[name].fit(training_set.features, training_set.signs)
    values = hard_svm(transformer.transform(training_set.features), training_set.signs, transformer.transform(points))
    place = [scaling.name for scaling in audit.scalings].index(name)
    clear = np.abs(values) > 1e-3
    assert clear.sum() > 70
    np.testing.assert_array_equal(audit.signs[place][clear], np.sign(values[clear]))
    kind = {"logarithm": "other", "shaped": "other"}.get(name, "diagonal")
    assert audit.scalings[place].kind == kind


def margin_of(training_set, **parameters):
    return RescaleInvariantSVC(**parameters).fit(training_set.features, training_set.signs)._fitted.margin


def test_a_selector_gets_as_many_features_as_separate_the_rows(tumours):
    features, labels = tumours
    training_set = TrainingSet(features[:40].to_numpy(), labels[:40])
    found = labels_after("s", FisherRatioSelector(), margin_of(training_set), features[40:60].to_numpy())
    assert found.kind == "selection"
    kept = int((found.factors > 0).sum())
    assert 4 < kept < 9  # four, a half of nine, do not
    assert found.note.startswith(f"{kept} features kept")
    fewer = labels_after("s", FisherRatioSelector(kept - 1), margin_of(training_set), features[40:60].to_numpy())
    np.testing.assert_array_equal(fewer.values, found.values)
    engine = ComplexEngine(training_set)
    assert not len(found.contradictions(engine.certify(features[40:60].to_numpy()).code))


def test_factors_are_read_off_the_rows():
    training_set = TrainingSet([[0.0, 1, 5], [2, 0, 5], [4, 3, 5], [6, 1, 5]], [-1, -1, 1, 1])
    points = np.array([[1.0, 1, 5], [3, 8, 5]])
    minmax = labels_after("m", MinMaxScaler(), margin_of(training_set), points)
    np.testing.assert_allclose(minmax.factors, [1 / 6, 1 / 3, 1])
    clipping = labels_after("c", MinMaxScaler(clip=True), margin_of(training_set), points)
    assert (clipping.kind, clipping.factors) == ("other", None)
    both = labels_after("b", make_pipeline(MinMaxScaler((-1, 0)), StandardScaler()), margin_of(training_set), points)
    deviation = training_set.features.std(axis=0)[:2]
    np.testing.assert_allclose(both.factors[:2], 1 / deviation)


def test_what_a_transformer_can_not_do_is_a_note(tumours):
    features, labels = tumours[0].iloc[:, :3], tumours[1]

    class Refuses(StandardScaler):
        def fit(self, X, y=None):
            raise ValueError("not on a Monday")

    again = scaling_audit(
        features[:30], labels[:30], features[30:50], scalings={"mine": Refuses(), "z": StandardScaler()}, most_radii=0
    )
    assert [one.name for one in again.scalings] == [RAW, "mine", "z"]
    assert again.scalings[1].note == "can't be applied: not on a Monday"
    assert not again.signs[1].any()
    assert "'mine': can't be applied" in str(again)
    assert again.signs[2].all()


def test_ties_are_no_contradictions_and_other_transformations_are_none():
    code = np.array([1, 1, -1, 0], dtype=np.int8)
    values = np.array([-1e-12, -1.0, 1.0, 5.0])
    near = np.array([True, False, False, False])
    diagonal = ScalingResult("d", "diagonal", np.ones(2), values, near)
    assert diagonal.contradictions(code).tolist() == [1, 2]
    assert diagonal.signs(code).tolist() == [1, -1, 1, 1]
    assert not len(ScalingResult("o", "other", None, values, near).contradictions(code))


def test_every_scaling_has_the_nu_of_the_model():
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 9, (40, 3)).astype(float)
    labels = np.where(rows @ [1, 1, -1] + rng.normal(size=40) * 4 > 4, 1, -1)
    margin = margin_of(TrainingSet(rows, labels), nu="auto")
    scaled = labels_after("z", StandardScaler(), margin, rows)
    scaler = StandardScaler().fit(rows)
    svc = SVC(kernel="linear", tol=1e-9).fit(scaler.transform(rows), labels)
    clear = np.abs(svc.decision_function(scaler.transform(rows))) > 1e-6
    np.testing.assert_array_equal(
        np.sign(scaled.values)[clear], np.sign(svc.decision_function(scaler.transform(rows)))[clear]
    )
    # so few features that the reduced hulls of this ν meet: more are taken, as where nothing separates the rows
    one = labels_after("s", FisherRatioSelector(1), margin, rows)
    assert "the classes overlap too much for this ν" in one.note
