"""Every parameter of every public function with values of the wrong type: right, or one clear line, and no surprises."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC as SklearnSVC

import rescaleinv
from rescaleinv import (
    ComplexEngine,
    GapEngine,
    InputError,
    MilpEngine,
    RescaleInvariantSVC,
    RescaleInvError,
    TrainingSet,
)

ROWS, LABELS = [[-1.0, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]
EXAMPLE = TrainingSet(ROWS, LABELS)
POINTS = [[-1.0, 4], [4, 4]]

WRONG = {
    "text": "text",
    "digits": "11",
    "empty text": "",
    "bytes": b"11",
    "True": True,
    "nan": float("nan"),
    "numpy nan": np.float32("nan"),
    "minus": -1,
    "zero": 0,
    "half": 0.5,
    "infinite": float("-inf"),
    "None": None,
    "NA": pd.NA,
    "NaT": pd.NaT,
    "time": pd.Timestamp("2020-01-01"),
    "complex": 1j,
    "nested": [[["a"]]],
    "no rows": [],
    "mapping": {"a": None},
    "0-d": np.array(3.0),
    "0-d text": np.array("x"),
    "2-d": np.ones((2, 2)),
    "missing": [None, None],
    "nans": [float("nan")] * 4,
    "object": object(),
    "type": int,
    "generator": (x for x in "ab"),
}


def fitted(**parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RescaleInvariantSVC(**parameters).fit(ROWS, LABELS)


def call(function, *arguments):
    """The same call with one keyword argument, or the one at that position, replaced."""

    def run(name, value, given):
        return function(*arguments, **{**given, name: value})

    return run


SVC = fitted()
VERDICTS = SVC.certify(POINTS)
FRAME = pd.DataFrame(ROWS, columns=["a", "b"])
LINEAR, STRICT = (SklearnSVC(kernel="linear", C=C).fit(ROWS, LABELS) for C in (1.0, 100.0))
REPORT = rescaleinv.strong_report([1, -1], VERDICTS, [1, 1])

# function -> (how to call it, keyword arguments that are right)
CALLS = {
    "RescaleInvariantSVC": (
        lambda **given: RescaleInvariantSVC(**given).fit(ROWS, LABELS).certify(POINTS),
        {"scale_range": 1.1, "time_limit": 1},
    ),
    "RescaleInvariantSVC.fit": (RescaleInvariantSVC().fit, {"X": ROWS, "y": LABELS, "sample_weight": None}),
    "RescaleInvariantSVC.certify": (SVC.certify, {"X": POINTS, "budget": None}),
    "RescaleInvariantSVC.predict_set": (SVC.predict_set, {"X": POINTS}),
    "RescaleInvariantSVC.rescaling_radius": (
        SVC.rescaling_radius,
        {"X": POINTS, "ratio": 1.5, "largest": 9.0, "budget": 5},
    ),
    "RescaleInvariantSVC.radius_certificates": (
        SVC.radius_certificates,
        {"x": POINTS[0], "ratio": 1.5, "largest": 9.0},
    ),
    "RescaleInvariantSVC.save": (SVC.save, {"path": "model.npz"}),
    "RescaleInvariantSVC.load": (RescaleInvariantSVC.load, {"path": __file__}),
    "RescaleInvariantSVC.prove": (SVC.prove, {"path": "complex.jsonl"}),
    "RescaleInvariantSVC, limited": (
        lambda **given: RescaleInvariantSVC(**given).fit(ROWS, LABELS).certify(POINTS),
        {"scale_range": {"a": 2}, "time_limit": 1},
    ),
    "RescaleInvariantSVC, one range of several": (
        lambda a: RescaleInvariantSVC(scale_range={"a": a, "b": 2}, time_limit=1).fit(FRAME, LABELS),
        {"a": (0, float("inf"))},
    ),
    "RescaleInvariantSVC, one group of several": (
        lambda a: RescaleInvariantSVC(groups={"a": a, "b": 2}, scale_range=2).fit(FRAME, LABELS),
        {"a": 1},
    ),
    "RescaleInvariantSVC, one weight of two": (
        lambda weight: RescaleInvariantSVC(class_weight={1: weight}, C=1.0, scale_range=2).fit(ROWS, LABELS),
        {"weight": 2.0},
    ),
    "RescaleInvariantSVC.from_estimator": (
        RescaleInvariantSVC.from_estimator,
        {"model": LINEAR, "X": ROWS, "y": LABELS, "sample_weight": None},
    ),
    "nu_of": (rescaleinv.nu_of, {"C": 1.0, "X": ROWS, "y": LABELS, "sample_weight": None, "class_weight": None}),
    "least_nu": (rescaleinv.least_nu, {"training_set": EXAMPLE, "row_weights": None}),
    "diagnose": (
        rescaleinv.diagnose,
        {"models": {"one": LINEAR, "other": STRICT}, "X_train": ROWS, "y_train": LABELS, "X_test": POINTS},
    ),
    "triage": (
        rescaleinv.triage,
        {"estimator": SVC, "X": POINTS, "calibration": None, "confidence": 0.9, "largest": 2.0, "budget": 2},
    ),
    "multiplicity": (
        rescaleinv.multiplicity,
        {"model": SVC, "X": POINTS, "verdicts": None, "groups_by": None, "n_rescalings": 3, "random_state": 0},
    ),
    "check_invariance": (rescaleinv.check_invariance, {"training_set": EXAMPLE, "nu": None}),
    "in_closure": (
        rescaleinv.in_closure,
        {"training_set": EXAMPLE, "weights": [1, 1], "intercept": None, "tolerance": 1e-9},
    ),
    "is_rescale_optimal": (
        rescaleinv.is_rescale_optimal,
        {"training_set": EXAMPLE, "weights": [1, 1], "intercept": None, "tolerance": 1e-9},
    ),
    "rescaling_of": (
        rescaleinv.rescaling_of,
        {"training_set": EXAMPLE, "weights": [1, 1], "intercept": None, "tolerance": 1e-9},
    ),
    "mean_report": (rescaleinv.mean_report, {"reports": [REPORT]}),
    "Verdicts.prove": (VERDICTS.prove, {"path": "certificates.jsonl"}),
    "Verdicts.certificate": (VERDICTS.certificate, {"i": 0}),
    "Verdicts.witness": (VERDICTS.witness, {"i": 0}),
    "RescaleInvariantOneVsRest.fit": (
        lambda **given: rescaleinv.RescaleInvariantOneVsRest(given.pop("estimator")).fit(**given),
        {"estimator": None, "X": ROWS, "y": LABELS},
    ),
    "RescaleInvariantOneVsOne.fit": (
        rescaleinv.RescaleInvariantOneVsOne().fit,
        {"X": ROWS, "y": LABELS, "sample_weight": None},
    ),
    "certify": (rescaleinv.certify, {"estimator": SVC, "X": POINTS, "budget": None}),
    "TrainingSet": (
        TrainingSet,
        {"X": ROWS, "y": LABELS, "positive": 1, "feature_names": None, "row_numbers": None, "read_as": "written"},
    ),
    "ComplexEngine": (
        lambda **given: ComplexEngine(**given).certify(POINTS),
        {"training_set": EXAMPLE, "n_jobs": 1, "max_seconds": 1, "max_vertices": 5, "max_bytes": 9e9, "left_out": 0},
    ),
    "MilpEngine": (MilpEngine, {"training_set": EXAMPLE, "solver": "highs", "time_limit": 1, "n_jobs": 1}),
    "GapEngine": (
        lambda **given: GapEngine(**given).certify(POINTS),
        {
            "training_set": EXAMPLE,
            "scale_range": 1.1,
            "groups": None,
            "penalties": None,
            "nu": None,
            "time_limit": 1,
            "max_parts": 50,
            "n_jobs": 1,
            "left_out": 0,
        },
    ),
    "certify_files": (
        rescaleinv.certify_files,
        {
            "model": SVC,
            "inputs": "none.csv",
            "out": "nowhere",
            "keep": (),
            "chunk_rows": 5,
            "n_jobs": 1,
            "scheduler": None,
        },
    ),
    "scaling_audit": (
        rescaleinv.scaling_audit,
        {
            "X_train": ROWS,
            "y_train": LABELS,
            "X_test": POINTS,
            "y_test": [1, -1],
            "scalings": {},
            "estimator": None,
            "class_names": None,
            "kappa": 2.0,
            "most_radii": 0,
            "fixed": None,
            "budget": 5,
            "groups_by": None,
            "noun": "points",
        },
    ),
    "minimal_norm_svm": (rescaleinv.minimal_norm_svm, {"training_set": EXAMPLE, "rescaling": None}),
    "is_separable": (rescaleinv.is_separable, {"training_set": EXAMPLE}),
    "separable_subset": (
        rescaleinv.separable_subset,
        {"training_set": EXAMPLE, "rule": "misclassified", "row_weights": None, "time_limit": None},
    ),
    "neutral_certificate": (
        rescaleinv.neutral_certificate,
        {"training_set": EXAMPLE, "point": [-1, 4], "positive_rescaling": [1, 1], "negative_rescaling": [5, 1]},
    ),
    "strong_report": (
        rescaleinv.strong_report,
        {
            "y_true": [1, -1],
            "verdicts": VERDICTS,
            "baseline": [1, 1],
            "classes": (-1, 1),
            "groups_by": None,
            "scalings": None,
        },
    ),
    "verdict_confusion": (rescaleinv.verdict_confusion, {"y_true": [1, -1], "verdicts": VERDICTS}),
}
CASES = [(function, name) for function, (_, given) in CALLS.items() for name in given]
CASES += [
    ("RescaleInvariantSVC", name)
    for name in inspect.signature(RescaleInvariantSVC).parameters
    if name not in CALLS["RescaleInvariantSVC"][1]
]


@pytest.mark.parametrize(("function", "name"), CASES, ids=[f"{function}({name})" for function, name in CASES])
def test_right_or_one_clear_line(function, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, given = CALLS[function]
    leaks = {}
    for kind, value in WRONG.items():
        if name in ("out", "path") and isinstance(value, str):
            continue  # any text is a path
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run(**{**given, name: value})
        except RescaleInvError as error:
            if "\n" in str(error).strip() or not str(error):
                leaks[kind] = f"not one line: {error}"
        except Exception as error:  # what the test is about
            leaks[kind] = f"{type(error).__name__}: {error}"
    assert not leaks


# These were read as something else before, without a word.
MISREAD = [
    ("RescaleInvariantSVC", "scale_range", "11"),
    ("RescaleInvariantSVC", "scale_range", b"11"),
    ("RescaleInvariantSVC", "scale_range", ["1", "1"]),
    ("RescaleInvariantSVC", "scale_range", True),
    ("RescaleInvariantSVC", "scale_range", ("12", "11")),
    ("RescaleInvariantSVC", "groups", [None, None]),
    ("RescaleInvariantSVC", "groups", [float("nan")] * 2),
    ("RescaleInvariantSVC", "groups", [pd.NA, pd.NA]),
    ("RescaleInvariantSVC", "C", True),
    ("RescaleInvariantSVC", "time_limit", True),
    ("RescaleInvariantSVC", "max_vertices", True),
    ("RescaleInvariantSVC", "n_jobs", True),
    ("GapEngine", "max_parts", True),
    ("GapEngine", "penalties", [True] * 4),
    ("scaling_audit", "kappa", True),
    ("scaling_audit", "most_radii", True),
    ("certify_files", "chunk_rows", True),
    ("RescaleInvariantSVC", "nu", True),
    ("RescaleInvariantSVC", "nu", "0.5"),
    ("RescaleInvariantSVC", "read_as", True),
    ("RescaleInvariantSVC, one range of several", "a", "free"),
    ("RescaleInvariantSVC, one range of several", "a", ["0", "inf"]),
    ("RescaleInvariantSVC, one range of several", "a", float("nan")),
    ("RescaleInvariantSVC, one group of several", "a", None),
    ("RescaleInvariantSVC, one weight of two", "weight", "2"),
    ("RescaleInvariantSVC, one weight of two", "weight", True),
    ("RescaleInvariantSVC.certify", "budget", True),
    ("RescaleInvariantSVC.certify", "budget", "5"),
    ("RescaleInvariantSVC.rescaling_radius", "ratio", True),
    ("RescaleInvariantSVC.rescaling_radius", "largest", "9"),
    ("GapEngine", "nu", True),
    ("scaling_audit", "budget", True),
    ("scaling_audit", "fixed", "a"),
    ("scaling_audit", "groups_by", "ab"),
    ("triage", "confidence", True),
    ("triage", "budget", "2"),
    ("multiplicity", "random_state", True),
    ("Verdicts.certificate", "i", True),
    ("Verdicts.witness", "i", 0.0),
]


@pytest.mark.parametrize(("function", "name", "value"), MISREAD, ids=repr)
def test_nothing_is_misread(function, name, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, given = CALLS[function]
    with pytest.raises(InputError):
        run(**{**given, name: value})
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        (np.float32(2), (0.5, 2)),
        (np.int64(2), (0.5, 2)),
        (np.array(2.0), (0.5, 2)),
        ([0.5, 2], (0.5, 2)),
        (np.array([0.5, 2]), (0.5, 2)),
        ([[0.5, 2], [0.5, 2]], (0.5, 2)),
        (pd.DataFrame([[0.5, 2], [0.5, 2]]).to_numpy(), (0.5, 2)),
    ],
    ids=repr,
)
def test_numbers_of_every_kind_are_numbers(value, limits):
    assert fitted(scale_range=value)._fitted.limits.tolist() == [list(limits)] * 2


@pytest.mark.parametrize(
    "number", [np.int64(2), np.float32(2), np.float64(2), np.uint8(2), pd.Series([2])[0]], ids=repr
)
@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("RescaleInvariantSVC", "scale_range"),
        ("RescaleInvariantSVC", "C"),
        ("RescaleInvariantSVC", "time_limit"),
        ("RescaleInvariantSVC.certify", "budget"),
        ("RescaleInvariantSVC.rescaling_radius", "ratio"),
        ("RescaleInvariantSVC.rescaling_radius", "largest"),
        ("RescaleInvariantSVC, one range of several", "a"),
        ("RescaleInvariantSVC, one group of several", "a"),
        ("RescaleInvariantSVC, one weight of two", "weight"),
        ("nu_of", "C"),
        ("triage", "largest"),
        ("scaling_audit", "kappa"),
    ],
)
def test_numbers_of_other_libraries_are_numbers(function, name, number):
    run, given = CALLS[function]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(**{**given, name: number})
