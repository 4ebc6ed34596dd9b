"""Reports on strong verdicts: against scikit-learn's metrics, and against the tables that the paper prints."""

import math
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import confusion_matrix, precision_score

from benchmarks.paper.figures import BENCHMARKS, column_averages
from rescaleinv import ComplexEngine, StrongReport, Verdict, mean_report, strong_report, verdict_confusion
from rescaleinv.datasets import load
from rescaleinv.errors import InputError
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

COUNTS = ("fp", "tp", "fn", "tn", "neutral", "unknown")
SHARES = ("ppv", "npv", "neutral_share", "coverage")


def same(one, other):
    """Whether two reports have the same figures, NaN where NaN."""
    return one.to_frame().astype(float).equals(other.to_frame().astype(float))


# --- the paper's Tables 2 to 4 --------------------------------------------------------------------------------------

# true class and label of the plain SVM in each of the four cells
CELLS = {"fp": (-1, 1), "tp": (1, 1), "fn": (1, -1), "tn": (-1, -1)}


def points_of(benchmark):
    """Test points that have the printed counts: true classes, verdicts, and the SVM's labels."""
    svm, strong, points = benchmark.svm, benchmark.strong, []
    for name, (truth, label) in CELLS.items():
        total, decided = getattr(svm, name), getattr(strong, name)
        points += [(truth, label, label)] * decided + [(truth, 0, label)] * (total - decided)
    return np.array(points).T


@pytest.fixture(scope="module")
def paper_reports():
    return [strong_report(*points_of(benchmark)) for benchmark in BENCHMARKS]


def agrees(share, printed):
    """Whether a share is the printed percentage, rounded; None is printed as "-"."""
    return math.isnan(share) if printed is None else abs(100 * share - printed) <= 0.5


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: f"benchmark {benchmark.number}")
def test_the_figures_of_the_paper(benchmark, paper_reports):
    report = paper_reports[benchmark.number - 1]
    for found, printed in ((report.svm, benchmark.svm), (report.strong, benchmark.strong)):
        assert all(getattr(found, name) == getattr(printed, name) for name in CELLS)
        assert agrees(found.ppv, printed.ppv)
        assert agrees(found.npv, printed.npv)
    assert report.strong.neutral == benchmark.neutral
    assert agrees(report.strong.neutral_share, benchmark.neutral_percent)
    assert report.strong.coverage == (benchmark.points - benchmark.neutral) / benchmark.points
    assert (report.svm.neutral, report.svm.coverage, report.strong.unknown) == (0, 1, 0)


def test_the_means_of_the_paper_leave_out_what_is_undefined(paper_reports):
    """The mean share of neutral points is printed as 55.9; the other means are those of the printed columns."""
    mean, expected = mean_report(paper_reports), column_averages()
    assert round(100 * mean.strong.neutral_share, 1) == 55.9 == round(expected["neutral share"], 1)
    assert sum(one.strong.ppv is None for one in BENCHMARKS) == 2
    assert sum(one.strong.npv is None for one in BENCHMARKS) == 1
    for method, figures in (("SVM", mean.svm), ("strong", mean.strong)):
        assert agrees(figures.ppv, expected[f"{method} PPV"])
        assert agrees(figures.npv, expected[f"{method} NPV"])


# --- scikit-learn ---------------------------------------------------------------------------------------------------

# the labels of the negative and of the positive class, in sorted order
LABELS = {
    "signs": (-1, 1),
    "zero and one": (0, 1),
    "integers": (3, 7),
    "floats": (1.0, 2.0),
    "booleans": (False, True),
    "text": ("benign", "malignant"),
}


def random_points(seed, labels, n_points=60):
    """True classes, verdict codes, and labels of an SVM that agrees with the strong ones."""
    rng = np.random.default_rng(seed)
    names = np.array(labels)
    codes = rng.choice([1, -1, 0, 2], n_points).astype(np.int8)
    predicted = np.where(codes % 2 == 1, (codes + 1) // 2, rng.integers(0, 2, n_points))
    return names[rng.integers(0, 2, n_points)], codes, names[predicted]


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("turned", [False, True], ids=["as sorted", "turned round"])
def test_against_scikit_learn(labels, seed, turned):
    truth, codes, predicted = random_points(seed, labels)
    negative, positive = labels
    if turned:
        negative, positive, codes = positive, negative, np.where(abs(codes) == 1, -codes, codes)
    report = strong_report(truth, codes, predicted, classes=(negative, positive) if turned else None)
    assert report.classes == (negative, positive)
    strong = abs(codes) == 1
    called = np.array([negative, positive])[(codes[strong] + 1) // 2]
    for found, classes, method in (
        (report.svm, truth, predicted),
        (report.strong, truth[strong], called),
    ):
        tn, fp, fn, tp = confusion_matrix(classes, method, labels=[negative, positive]).ravel()
        assert (found.tn, found.fp, found.fn, found.tp) == (tn, fp, fn, tp)
        assert found.ppv == pytest.approx(precision_score(classes, method, pos_label=positive))
        assert found.npv == pytest.approx(precision_score(classes, method, pos_label=negative))
    assert report.strong.neutral == sum(codes == 0) > 0
    assert report.strong.unknown == sum(codes == 2) > 0
    assert report.strong.neutral_share == pytest.approx(np.mean(codes == 0))
    assert report.strong.coverage == pytest.approx(strong.mean())
    assert (report.svm.neutral, report.svm.neutral_share, report.svm.unknown, report.svm.coverage) == (0, 0, 0, 1)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_confusion_against_scikit_learn(labels):
    truth, codes, _ = random_points(5, labels)
    found = verdict_confusion(truth, codes)
    assert found.index.tolist() == [labels[1], labels[0]]
    assert found.columns.tolist() == ["strongly positive", "strongly negative", "neutral", "unknown"]
    # the true classes as codes, so that one matrix has both
    expected = confusion_matrix(np.where(truth == labels[1], 1, -1), codes, labels=[1, -1, 0, 2])
    assert (found.to_numpy() == expected[:2]).all()
    turned = verdict_confusion(truth, codes, classes=labels[::-1])
    assert turned.index.tolist() == [*labels]
    assert (turned.to_numpy() == expected[1::-1]).all()


def test_verdicts_of_an_engine():
    """Real verdicts never contradict the SVM, so the strong ones' counts are parts of its counts."""
    features, labels, _ = load("banknote")
    rows = np.random.default_rng(4).permutation(len(features))
    training_set = separable_subset(TrainingSet(features[rows[:25]], labels[rows[:25]])).training_set
    points, truth = features[rows[25:325]], labels[rows[25:325]]
    verdicts = ComplexEngine(training_set).certify(points)
    plain = np.where(minimal_norm_svm(training_set).decision_function(points) >= 0, 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = strong_report(truth, verdicts, plain, classes=training_set.classes)
    assert same(report, strong_report(truth, verdicts.code, plain))
    assert same(report, strong_report(truth, list(verdicts), plain))
    assert all(getattr(report.strong, count) <= getattr(report.svm, count) for count in ("fp", "tp", "fn", "tn"))
    assert report.strong.neutral == verdicts.neutral.sum() > 0
    assert report.strong.coverage == verdicts.strong.mean() > 0
    confusion = verdict_confusion(truth, verdicts)
    assert dict(confusion.sum()) == verdicts.counts()
    assert confusion.loc[1, "strongly positive"] == report.strong.tp
    assert confusion.loc[-1, "strongly positive"] == report.strong.fp
    assert confusion.loc[1, "strongly negative"] == report.strong.fn
    assert confusion.loc[-1, "strongly negative"] == report.strong.tn


# --- what may be given ----------------------------------------------------------------------------------------------

TRUTH = ["yes", "no", "no", "yes", "no"]
CODES = [1, -1, 0, 0, 2]
BASELINE = ["yes", "no", "yes", "no", "no"]
SMALL = strong_report(TRUTH, CODES, BASELINE)


@pytest.mark.parametrize(
    "container",
    [
        tuple,
        np.array,
        lambda values: np.array(values, dtype=object),
        pd.Series,
        lambda values: pd.Series(values, index=range(9, 4, -1)),  # an index is a name, not a place
        pd.Categorical,
        pd.Index,
        pl.Series,
    ],
)
def test_containers(container):
    assert same(strong_report(container(TRUTH), container(CODES), container(BASELINE)), SMALL)
    assert verdict_confusion(container(TRUTH), container(CODES)).equals(verdict_confusion(TRUTH, CODES))


@pytest.mark.parametrize("kind", [np.int8, np.int64, float, "Int64", object])
def test_types_of_codes(kind):
    assert same(strong_report(TRUTH, pd.Series(CODES, dtype=kind), BASELINE), SMALL)


def test_numbers_are_labels_whatever_their_type():
    codes = [1, -1, -1]
    expected = strong_report([1, 0, 0], codes, [1, 0, 0])
    assert same(strong_report([1.0, 0.0, 0.0], codes, np.array([True, False, False])), expected)


def test_nothing_that_was_given_is_changed():
    truth, codes, baseline = np.array(TRUTH), np.array(CODES, np.int8), np.array(BASELINE)
    for array in (truth, codes, baseline):
        array.flags.writeable = False
    strong_report(truth, codes, baseline)
    verdict_confusion(truth, codes)


def test_the_positive_class_is_the_second_in_sorted_order_unless_it_is_given():
    assert SMALL.classes == ("no", "yes")
    turned = strong_report(TRUTH, np.array([-1, 1, 0, 0, 2]), BASELINE, classes=("yes", "no"))
    assert turned.classes == ("yes", "no")
    for given, exchanged in (
        ("tp", "tn"),
        ("fp", "fn"),
        ("ppv", "npv"),
        ("neutral", "neutral"),
        ("unknown", "unknown"),
    ):
        for method, other in ((SMALL.svm, turned.svm), (SMALL.strong, turned.strong)):
            assert getattr(method, given) == getattr(other, exchanged)
            assert getattr(method, exchanged) == getattr(other, given)


def test_exchanged_classes_are_noticed():
    with pytest.warns(UserWarning, match=re.escape("2 of 2 strong verdicts contradict the baseline")) as caught:
        strong_report(TRUTH, CODES, BASELINE, classes=("yes", "no"))
    assert "give classes=('no', 'yes')" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_one_contradiction_among_many_is_no_exchange():
    """A baseline may have rounded a tie the other way, or be another method altogether."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = strong_report([1, 1, -1], [1, 1, -1], [1, -1, -1])
    assert (report.strong.tp, report.svm.tp) == (2, 1)


# --- undefined ------------------------------------------------------------------------------------------------------


def test_no_strong_verdict():
    report = strong_report(TRUTH, [0, 0, 0, 2, 0], BASELINE)
    assert math.isnan(report.strong.ppv)
    assert math.isnan(report.strong.npv)
    assert (report.strong.coverage, report.strong.neutral_share, report.strong.unknown) == (0, 0.8, 1)
    assert (report.svm.ppv, report.svm.npv) == (1 / 2, 2 / 3)


@pytest.mark.parametrize("classes", [None, ("no", "yes")])
def test_no_points(classes):
    report = strong_report([], [], [], classes=classes)
    assert report.classes == classes
    for method in (report.svm, report.strong):
        assert [getattr(method, count) for count in COUNTS] == [0] * 6
        assert all(math.isnan(getattr(method, share)) for share in SHARES)
    assert str(report).startswith("0 point(s)")
    assert report._repr_html_().count("<td>-</td>") == 8
    confusion = verdict_confusion(np.array([]), np.array([], np.int8), classes=classes)
    assert confusion.shape == (0 if classes is None else 2, 4)
    assert confusion.to_numpy().sum() == 0


def test_one_class_only_must_be_named():
    with pytest.raises(InputError, match=re.escape("1 label(s) occur in y_true and baseline ('yes'); two are needed")):
        strong_report(["yes"] * 3, [1, 0, 1], ["yes"] * 3)
    with pytest.raises(InputError, match=re.escape("1 label(s) occur in y_true ('yes'); two are needed")):
        verdict_confusion(["yes"] * 3, [1, 0, 1])
    report = strong_report(["yes"] * 3, [1, 0, 1], ["yes"] * 3, classes=("no", "yes"))
    assert (report.strong.tp, report.strong.ppv) == (2, 1)
    assert math.isnan(report.strong.npv)
    confusion = verdict_confusion(["yes"] * 3, [1, 0, 1], classes=("no", "yes"))
    assert confusion.to_numpy().tolist() == [[2, 0, 1, 0], [0, 0, 0, 0]]


def test_the_second_class_may_occur_in_the_baseline_only():
    report = strong_report(["yes"] * 2, [1, 0], ["yes", "no"])
    assert (report.classes, report.svm.fn, report.svm.npv) == (("no", "yes"), 1, 0)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_true": TRUTH[:4]}, "y_true has 4 label(s) for 5 verdict(s)"),
        ({"baseline": [*BASELINE, "no"]}, "baseline has 6 label(s) for 5 verdict(s)"),
        ({"verdicts": CODES[:2]}, "y_true has 5 label(s) for 2 verdict(s)"),
        ({"verdicts": []}, "y_true has 5 label(s) for 0 verdict(s)"),
        (
            {"y_true": [*TRUTH[:3], float("nan"), "no"]},
            "y_true is missing (None or NaN) at 1 point(s), first at point 3",
        ),
        ({"y_true": [None, *TRUTH[:3], None]}, "y_true is missing (None or NaN) at 2 point(s), first at point 0"),
        ({"baseline": pd.Series([*BASELINE[:4], pd.NA])}, "baseline is missing (None or NaN) at 1 point(s)"),
        ({"baseline": np.ma.array(BASELINE, mask=[0, 1, 0, 0, 0])}, "baseline is missing (None or NaN) at 1 point(s)"),
        (
            {"y_true": ["yes", "no", "maybe", "yes", "no"]},
            "3 label(s) occur in y_true and baseline ('maybe', 'no', 'yes')",
        ),
        ({"baseline": [0.3, -1.2, 0.4, 0.5, 0.6]}, "can't be compared with each other"),
        (
            {"y_true": [1, 2, 3, 4, 5], "baseline": [6] * 5},
            "6 label(s) occur in y_true and baseline (1, 2, 3, 4, 5, …)",
        ),
        (
            {"y_true": ["yes", "no", "No", "yes", "no"], "classes": ("no", "yes")},
            "y_true has 'No' at point 2, which is neither of the classes 'no' (negative) and 'yes' (positive)",
        ),
        ({"baseline": [1, 0, 0, 1, 0], "classes": ("no", "yes")}, "baseline has 1 at point 0, which is neither"),
        ({"classes": ("no",)}, "classes is ['no']; two different labels are needed"),
        ({"classes": ("no", "no")}, "classes is ['no', 'no']; two different labels are needed"),
        ({"classes": ("a", "b", "c")}, "classes is ['a', 'b', 'c']; two different labels are needed"),
        ({"classes": ("no", None)}, "classes is missing (None or NaN)"),
        (
            {"verdicts": [1, -1, 0, 0, 3]},
            "verdicts has 3; a Verdicts is needed, or its codes: 1 (STRONGLY_POSITIVE), -1",
        ),
        ({"verdicts": np.array([1, 255, 0, 0, 2], np.uint8)}, "verdicts has 255"),
        ({"verdicts": [1, -1, 0.5, 0, 2]}, "verdicts has 0.5"),
        (
            {"verdicts": np.array([1, -1, 0, 0, np.nan])},
            "verdicts is missing (None or NaN) at 1 point(s), first at point 4",
        ),
        ({"verdicts": np.array([True, False, True, True, False])}, "verdicts has True"),
        ({"verdicts": ["strongly positive"] * 5}, "verdicts has 'strongly positive'"),
        (
            {"verdicts": np.zeros((5, 1), np.int8)},
            "verdicts can't be read; a sequence with one entry per point is needed",
        ),
        ({"y_true": np.array([TRUTH]).T}, "y_true can't be read; a sequence with one entry per point is needed"),
        ({"y_true": [["yes"]] * 5}, "y_true can't be read; a sequence with one entry per point is needed"),
        ({"baseline": pd.DataFrame({"label": BASELINE})}, "baseline can't be read"),
    ],
)
def test_what_is_refused(given, message):
    arguments = {"y_true": TRUTH, "verdicts": CODES, "baseline": BASELINE, **given}
    with pytest.raises(InputError, match=re.escape(message)):
        strong_report(**arguments)
    if "baseline" not in given:
        del arguments["baseline"]
        with pytest.raises(InputError, match=re.escape(message.replace(" and baseline", ""))):
            verdict_confusion(**arguments)


# --- means ----------------------------------------------------------------------------------------------------------


def test_a_mean_figure_by_figure():
    truth, codes, baseline = random_points(8, (-1, 1))
    reports = [
        strong_report(truth, codes, baseline),
        strong_report(truth[:20], np.minimum(codes[:20], 0), baseline[:20]),  # none strongly positive
        strong_report([], [], []),
    ]
    assert math.isnan(reports[1].strong.ppv)
    mean = mean_report(iter(reports))
    assert (mean.averaged, mean.classes) == (3, None)
    for method in ("svm", "strong"):
        for name in (*COUNTS, *SHARES):
            values = np.array([getattr(getattr(report, method), name) for report in reports])
            assert np.isnan(values).sum() == (name in SHARES) + (name == "ppv" and method == "strong")
            assert getattr(getattr(mean, method), name) == pytest.approx(np.nanmean(values))


def test_a_mean_of_undefined_shares_is_undefined():
    mean = mean_report([strong_report([1, -1], [0, 0], [1, -1])] * 2)
    assert math.isnan(mean.strong.ppv)
    assert (mean.strong.neutral_share, mean.svm.ppv, mean.classes) == (1, 1, (-1, 1))
    assert re.sub(" +", " ", str(mean)).endswith("\nstrong verdicts 0.0 0.0 - 0.0 0.0 - 2.0 100.0% 0.0 0.0%")


def test_a_mean_of_one_report_is_that_report():
    mean = mean_report([SMALL])
    assert same(mean, SMALL)
    assert str(mean).startswith("mean of 1 report(s), positive: 'yes', negative: 'no'\n")


def test_means_that_are_refused():
    with pytest.raises(InputError, match="there is no report to take the mean of"):
        mean_report([])
    with pytest.raises(InputError, match="one of the reports is itself a mean"):
        mean_report([SMALL, mean_report([SMALL, SMALL])])


# --- how it is shown ------------------------------------------------------------------------------------------------


def test_the_data_frame():
    frame = SMALL.to_frame()
    assert frame.index.tolist() == ["plain SVM", "strong verdicts"]
    assert frame.to_dict("list") == {
        "FP": [1, 0],
        "TP": [1, 1],
        "PPV": [1 / 2, 1],
        "FN": [1, 0],
        "TN": [2, 1],
        "NPV": [2 / 3, 1],
        "neutral": [0, 2],
        "neutral share": [0, 2 / 5],
        "unknown": [0, 1],
        "coverage": [1, 2 / 5],
    }
    assert {name for name in frame if frame[name].dtype.kind == "i"} == {"FP", "TP", "FN", "TN", "neutral", "unknown"}


def test_the_text_is_aligned_and_shows_what_is_undefined_as_a_dash():
    report = strong_report(["yes", "no"] * 60, [1, 0] * 60, ["yes", "no"] * 60)
    heading, *table = str(report).splitlines()
    assert heading == "120 point(s), positive: 'yes', negative: 'no'"
    assert len({len(line) for line in table}) == 1
    columns = re.split(r"\s{1,}(?!share)", table[0].strip())
    assert columns == ["FP", "TP", "PPV", "FN", "TN", "NPV", "neutral", "neutral share", "unknown", "coverage"]
    ends = [match.end() for match in re.finditer(r"neutral share|\S+", table[0])]
    for line in table[1:]:
        assert all(line[end - 1] != " " and line[end : end + 1] in (" ", "") for end in ends)
    assert re.sub(" +", " ", table[2]) == "strong verdicts 0 60 100.0% 0 0 - 60 50.0% 0 50.0%"


def test_the_html_is_escaped():
    report = strong_report(["<b>", "&"], [0, 1], ["<b>", "&"], classes=("<b>", "&"))
    page = report._repr_html_()
    assert page.startswith("<p>2 point(s), positive: &#x27;&amp;&#x27;, negative: &#x27;&lt;b&gt;&#x27;</p>")
    assert "<b>" not in page
    assert page.count("<td>") == 20
    assert "<td>-</td>" in page


def test_a_report_is_frozen_and_survives_pickling():
    with pytest.raises(AttributeError):
        SMALL.averaged = 3
    with pytest.raises(AttributeError):
        SMALL.strong.tp = 100
    again = pickle.loads(pickle.dumps(SMALL))
    assert isinstance(again, StrongReport)
    assert again == SMALL


def test_every_verdict_has_a_column():
    confusion = verdict_confusion([1, -1, 1, -1], list(Verdict))
    assert confusion.to_numpy().sum() == len(Verdict)
    assert (confusion.sum() == 1).all()
