"""Why labels differ: each cause made on purpose is named, and the others are 0; sums add up; the rest is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from rescaleinv import RescaleInvariantSVC, diagnose
from rescaleinv.audit.chain import CAUSES, common_factor
from rescaleinv.audit.diagnosis import usual_models
from rescaleinv.datasets import load
from rescaleinv.errors import InputError
from rescaleinv.theory.soft_margin import soft_margin_svm
from rescaleinv.theory.training_set import TrainingSet

X, Y, NAMES = load("urine")
Z = (X - X.mean(axis=0)) / X.std(axis=0)
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


def fit(model, rows=Z):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows[TRAIN], Y[TRAIN])


def after(change, svm):
    """The SVM in a pipeline that changes the features first."""
    return make_pipeline(FunctionTransformer(change), svm)


def exact(**options):
    return SVC(kernel="linear", tol=1e-10, **options)


def only_pair(first, second, rows=Z, points=None):
    models = {"one": fit(first, rows), "two": fit(second, rows)}
    found = diagnose(models, rows[TRAIN], Y[TRAIN], rows[TEST] if points is None else points)
    return found.pairs[0]


def assert_only(pair, cause):
    assert pair.n_changed > 0
    assert pair.counts == {name: pair.n_changed if name == cause else 0 for name in CAUSES}
    assert list(pair.rows(cause)) == list(np.flatnonzero(pair.chain.differs[0]))


# --- each cause alone -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("svm", [LinearSVC(loss="hinge", max_iter=1, random_state=0), SVC(kernel="linear", max_iter=1)])
def test_a_solver_that_stopped_early(svm):
    other = (
        LinearSVC(loss="hinge", tol=1e-10, max_iter=10**6, random_state=0) if isinstance(svm, LinearSVC) else exact()
    )
    pair = only_pair(svm, other)
    assert_only(pair, "solver")
    assert f"{pair.n_changed} because {type(svm).__name__} (one) stopped at max_iter=1," in str(pair)
    assert "a larger max_iter (now 1)" in str(pair)


def test_a_penalised_intercept():
    def svm():
        return LinearSVC(loss="hinge", tol=1e-10, max_iter=10**6, random_state=0)

    shift = np.array([3.0, 0, 0, 0, 0, 0])
    pair = only_pair(svm(), after(lambda rows: rows + shift, svm()))
    assert_only(pair, "intercept")
    assert f"{pair.n_changed} because LinearSVC penalises the intercept" in str(pair)
    assert "intercept_scaling" in str(pair)
    # a free intercept does not mind the shift
    free = only_pair(exact(), after(lambda rows: rows + shift, exact()))
    assert free.n_changed == 0
    assert f"all {len(Z[TEST])} labels agree" in str(free)


def test_a_common_factor_is_a_matter_of_C():
    pair = only_pair(exact(C=0.05), after(lambda rows: 10 * rows, exact(C=0.05)))
    assert_only(pair, "C")
    assert pair.chain.factor == pytest.approx(10)
    assert pair.chain.penalty == pytest.approx(0.05 / 100)
    assert "C=0.0005 there means what C=0.05 means for one" in str(pair)
    # and with that C nothing differs
    assert only_pair(exact(C=0.05), after(lambda rows: 10 * rows, exact(C=pair.chain.penalty))).n_changed == 0


def test_a_common_factor_of_a_squared_loss():
    def svm():
        return LinearSVC(C=0.01, fit_intercept=False, tol=1e-10, max_iter=10**6, random_state=0)

    pair = only_pair(svm(), after(lambda rows: 10 * rows, svm()))
    assert pair.n_changed == pair.counts["C"] + pair.counts["intercept"] > 0


def test_two_penalties_are_a_matter_of_C_too():
    assert_only(only_pair(exact(C=0.01), exact(C=100.0)), "C")
    assert_only(only_pair(NuSVC(kernel="linear", nu=0.85, tol=1e-10), NuSVC(kernel="linear", nu=0.5, tol=1e-10)), "C")


@pytest.mark.parametrize("column", [0, 5])
def test_one_feature_alone_moves_the_margin(column):
    factors = np.ones(6)
    factors[column] = 10.0
    pair = only_pair(exact(), after(lambda rows: rows * factors, exact()))
    assert_only(pair, "margin")
    assert pair.chain.factor == 1.0
    assert f"{pair.n_changed} because the margin moved" in str(pair)
    assert "neutral" in str(pair)


def test_different_losses():
    squared = LinearSVC(C=0.02, tol=1e-10, max_iter=10**6, intercept_scaling=1.0, random_state=0)
    pair = only_pair(squared, LinearSVC(C=0.02, loss="hinge", tol=1e-10, max_iter=10**6, random_state=0))
    assert pair.n_changed > 0
    assert pair.counts["loss"] + pair.counts["intercept"] == pair.n_changed
    assert "they minimise different losses" in str(pair)


# --- the verdict of the last step -------------------------------------------------------------------------------------


def test_the_two_rescalings_disagree_about_every_neutral_row():
    """Plain SVMs at the two rescalings, by another solver than the one that found them."""
    pair = only_pair(exact(), after(lambda rows: rows * [1, 1, 1, 1, 1, 10.0], exact()))
    assert pair.neutral.any()
    values = []
    for rescaling in pair.rescalings:
        svm = soft_margin_svm(TrainingSet(Z[TRAIN] * rescaling, Y[TRAIN]), pair.chain.first.penalty)
        values.append((Z[TEST] * rescaling) @ svm.weights + svm.intercept)
    assert (np.sign(values[0]) != np.sign(values[1]))[pair.neutral].all()
    assert ((values[0] >= 0) != (values[1] >= 0)).sum() == pair.neutral.sum()


# --- sums -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["urine", "penguins", "fertility"])
def test_sums_add_up_for_every_pair(data):
    features, labels, _ = load(data)
    train, test = slice(0, None, 2), slice(1, None, 2)
    models = {
        "raw": LinearSVC(loss="hinge", random_state=0),
        "squared": make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
        "no intercept": make_pipeline(MinMaxScaler(), LinearSVC(fit_intercept=False, random_state=0)),
        "svc": make_pipeline(StandardScaler(), SVC(kernel="linear")),
        "ours": make_pipeline(StandardScaler(), RescaleInvariantSVC(C=3.0)),
        "hard": RescaleInvariantSVC(inconsistent="drop"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models.values():
            model.fit(features[train], labels[train])
    found = diagnose(models, features[train], labels[train], features[test])
    assert len(found.pairs) == 15
    for pair in found.pairs:
        one, two = (models[name].predict(features[test]) for name in pair.names)
        assert sum(pair.counts.values()) == pair.n_changed == (one != two).sum()
        assert pair.left["as run"] == pair.n_changed
        rows = np.concatenate([pair.rows(cause) for cause in CAUSES])
        assert sorted(rows) == list(np.flatnonzero(one != two))
        assert not pair.chain.unreached
    table = found.table()
    assert (table[list(CAUSES)].sum(axis=1) == table["labels that differ"]).all()
    groups = np.arange(len(features[test])) % 3
    by_group = found.by_group(groups)
    summed = by_group.groupby(level=["first", "second"], sort=False)[list(CAUSES)].sum()
    assert (summed.to_numpy() == table[list(CAUSES)].to_numpy()).all()


def test_a_label_that_flips_back_and_forth_has_one_cause():
    """As run the two differ, at their optima they agree, with free intercepts they differ again."""
    features, labels, _ = load("penguins")
    raw = LinearSVC(loss="hinge", random_state=0)
    scaled = make_pipeline(StandardScaler(), LinearSVC(loss="hinge", random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [model.fit(features[::2], labels[::2]) for model in (raw, scaled)]
    pair = diagnose(models, features[::2], labels[::2], features[1::2]).pairs[0]
    differs = np.array(pair.chain.differs)
    back = differs[0] & ~differs[1] & differs[2:].any(axis=0)
    assert (pair.chain.cause[back] == CAUSES.index("solver")).all()
    assert (pair.chain.cause[~differs[0]] == -1).all()
    assert sum(pair.counts.values()) == pair.n_changed


def test_labels_that_agree_by_accident_are_said():
    features, labels, _ = load("urine")
    found = diagnose(None, features[::2], labels[::2], features[1::2])
    hidden = {pair.names: int(pair.chain.hidden.sum()) for pair in found.pairs}
    assert max(hidden.values()) > 1
    for pair in found.pairs:
        count = hidden[pair.names]
        words = f"{count} of the labels that agree {'does' if count == 1 else 'do'} so by accident"
        assert (words in str(pair)) == (count > 0)


# --- what is given and what comes back --------------------------------------------------------------------------------


def test_frames_keep_their_index_and_names():
    frame = pd.DataFrame(X, columns=list(NAMES), index=[f"patient {i}" for i in range(len(X))])
    found = diagnose(None, frame[TRAIN], Y[TRAIN], frame[TEST])
    assert [model.name for model in found.models] == list(usual_models())
    assert len(found.pairs) == 10
    result = found.to_frame(3)
    assert result.index.tolist() == frame[TEST].index.tolist()
    assert set(result["cause"]) <= {"", *CAUSES}
    assert ((result["raw, as run"] != result["MaxAbsScaler, as run"]) == (result["cause"] != "")).all()
    assert set(result["raw, as run"]) <= {-1, 1}
    assert found.rescalings(1).index.tolist() == list(NAMES)
    assert found.stages()["as run"].tolist() == found.table()["labels that differ"].tolist()
    assert "labels that differ" in found._repr_html_()
    assert repr(found).startswith("Diagnosis(5 models, 38 points")


def test_the_same_from_arrays_and_frames():
    frame = pd.DataFrame(X, columns=list(NAMES))
    one, two = (diagnose(None, rows[TRAIN], Y[TRAIN], rows[TEST]) for rows in (X, frame))
    pd.testing.assert_frame_equal(one.table(), two.table())


def test_text_labels():
    labels = np.where(Y > 0, "crystals", "clear")
    models = [exact(C=c).fit(Z[TRAIN], labels[TRAIN]) for c in (0.01, 100.0)]
    found = diagnose(models, Z[TRAIN], labels[TRAIN], Z[TEST])
    assert [model.name for model in found.models] == ["SVC", "SVC (2)"]
    assert set(found.to_frame()["SVC, as run"]) <= {"crystals", "clear"}
    assert found.pairs[0].counts["C"] == found.pairs[0].n_changed > 0


def test_an_optimum_that_was_not_found_is_said(monkeypatch):
    from rescaleinv.theory import optima

    monkeypatch.setattr(optima, "_OPTIMAL", 0.0)
    pair = only_pair(exact(), exact(C=0.01))
    assert "The optimum of one was not found to full accuracy" in str(pair)


@pytest.mark.parametrize(
    ("models", "table", "message"),
    [
        (lambda: [fit(exact())], Z, "two at least"),
        (lambda: fit(exact()), Z, "a mapping from names"),
        (lambda: [fit(exact()), exact()], Z, "not fitted"),
        (lambda: [fit(exact()), "svm"], Z, "a fitted linear SVM is needed"),
        (lambda: [fit(exact()), fit(LogisticRegression())], Z, "LogisticRegression was given"),
        (lambda: [fit(exact()), fit(SVC())], Z, "kernel='rbf'"),
        (lambda: [fit(exact()), fit(LinearSVC(class_weight="balanced"))], Z, "weights are not supported"),
        (lambda: [fit(exact()), exact().fit(Z[TRAIN], np.arange(39) % 3)], Z, "3 classes"),
        (lambda: [fit(exact()), exact().fit(Z[TRAIN], np.arange(39) % 2)], Z, "they must be the same"),
        (lambda: [fit(exact()), fit(exact(), Z[:, :4])], Z, "fitted to 4 features"),
        (lambda: [fit(exact()), fit(make_pipeline(PCA(6), exact()))], Z, "more than multiply and shift"),
        (lambda: [fit(exact()), fit(exact(C=2))], csr_array(Z), "sparse"),
        (lambda: [fit(exact()), fit(exact(C=2))], 2 * Z, "'SVC' was fitted to other rows than X_train"),
        (
            lambda: [fit(make_pipeline(StandardScaler(), exact())), fit(exact(C=2))],
            2 * Z,
            "was fitted to other rows",
        ),
        (lambda: [fit(RescaleInvariantSVC(nu="auto")), fit(LinearSVC())], 2 * Z, "was fitted to other rows"),
        (lambda: [exact().fit(Z, Y), fit(exact(C=2))], Z, "was fitted to other rows"),
        (lambda: [fit(exact()), exact().fit(Z[TRAIN], Y[TRAIN], np.linspace(0.1, 3, 39))], Z, "with sample weights"),
    ],
)
def test_what_can_not_be_compared_is_refused_in_one_line(models, table, message):
    with pytest.raises(InputError, match=message) as caught:
        diagnose(models(), table[TRAIN], Y[TRAIN], table[TEST])
    assert "\n" not in str(caught.value)


def test_the_words_for_one_label():
    models = [fit(exact()), fit(exact(C=0.01))]
    changed = diagnose(models, Z[TRAIN], Y[TRAIN], Z[TEST]).pairs[0].rows("C")
    alone = diagnose(models, Z[TRAIN], Y[TRAIN], Z[TEST][changed[:1]])
    assert "1 of 1 labels differs: " in str(alone)


def test_wrong_shapes_and_names():
    models = [fit(exact()), fit(exact(C=2))]
    with pytest.raises(InputError, match="X_test has 4 features, but X_train has 6"):
        diagnose(models, Z[TRAIN], Y[TRAIN], Z[TEST, :4])
    found = diagnose(models, Z[TRAIN], Y[TRAIN], Z[TEST])
    with pytest.raises(InputError, match="cause is 'luck'"):
        found.pairs[0].rows("luck")
    with pytest.raises(InputError, match="groups_by has 2 group"):
        found.by_group(["a", "b"])


def test_common_factor():
    everything = np.ones(4, dtype=bool)
    assert common_factor(np.ones(4), np.array([1.0, 4, 9, 100]), everything) == 4.0
    assert common_factor(np.ones(4), np.array([0.01, 0.1, 0.5, 3]), everything) == 0.5
    assert common_factor(np.ones(4), np.array([0.1, 0.5, 3, 9]), everything) == 1.0
    # dropped and constant features do not count
    assert common_factor(np.ones(4), np.array([0.0, 7, 7, 1]), np.array([True, True, True, False])) == 7.0
    assert common_factor(np.ones(4), np.zeros(4), everything) == 1.0
