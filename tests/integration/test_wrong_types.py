"""Every parameter of every public function with values of the wrong type: right, or one clear line, and no surprises."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

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

# function -> (how to call it, keyword arguments that are right)
CALLS = {
    "RescaleInvariantSVC": (
        lambda **given: RescaleInvariantSVC(**given).fit(ROWS, LABELS).certify(POINTS),
        {"scale_range": 1.1, "time_limit": 1},
    ),
    "RescaleInvariantSVC.fit": (RescaleInvariantSVC().fit, {"X": ROWS, "y": LABELS, "sample_weight": None}),
    "RescaleInvariantSVC.certify": (SVC.certify, {"X": POINTS}),
    "RescaleInvariantSVC.predict_set": (SVC.predict_set, {"X": POINTS}),
    "RescaleInvariantSVC.rescaling_radius": (SVC.rescaling_radius, {"X": POINTS, "ratio": 1.5, "largest": 9.0}),
    "RescaleInvariantOneVsOne.fit": (
        rescaleinv.RescaleInvariantOneVsOne().fit,
        {"X": ROWS, "y": LABELS, "sample_weight": None},
    ),
    "certify": (rescaleinv.certify, {"estimator": SVC, "X": POINTS}),
    "TrainingSet": (TrainingSet, {"X": ROWS, "y": LABELS, "feature_names": None, "row_numbers": None}),
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
            "time_limit": 1,
            "max_parts": 50,
            "n_jobs": 1,
            "left_out": 0,
        },
    ),
    "certify_files": (
        rescaleinv.certify_files,
        {"model": SVC, "inputs": "none.csv", "out": "nowhere", "keep": (), "chunk_rows": 5, "n_jobs": 1},
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
        },
    ),
    "minimal_norm_svm": (rescaleinv.minimal_norm_svm, {"training_set": EXAMPLE, "rescaling": None}),
    "is_separable": (rescaleinv.is_separable, {"training_set": EXAMPLE}),
    "separable_subset": (
        rescaleinv.separable_subset,
        {"training_set": EXAMPLE, "rule": "misclassified", "time_limit": None},
    ),
    "neutral_certificate": (
        rescaleinv.neutral_certificate,
        {"training_set": EXAMPLE, "point": [-1, 4], "positive_rescaling": [1, 1], "negative_rescaling": [5, 1]},
    ),
    "strong_report": (
        rescaleinv.strong_report,
        {"y_true": [1, -1], "verdicts": VERDICTS, "baseline": [1, 1], "classes": (-1, 1)},
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
        if name == "out" and isinstance(value, str):
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
