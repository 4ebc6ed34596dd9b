"""The tables of the page: plain values that are those of the audit, and words for each kind of verdict."""

import dataclasses
import math

import numpy as np
import pytest

from rescaleinv import scaling_audit
from rescaleinv.audit.report import tables
from rescaleinv.errors import CertificateError


@pytest.fixture(scope="module")
def audit():
    rows, labels = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"]
    return scaling_audit(rows, labels, [[-1, 4], [4, 4], [0, 0]], ["up", None, "down"], scalings={}, most_radii=0)


def test_one_row_per_point_in_the_order_asked_for(audit):
    rows = tables.point_rows(audit, [2, 0])
    assert [row.number for row in rows] == [2, 0]
    assert [row.verdict for row in rows] == ["strongly negative", "neutral"]
    assert [row.words for row in rows] == ["down whatever the scaling", "depends on the scaling"]
    assert [row.style for row in rows] == ["negative", "neutral"]
    assert [row.truth for row in rows] == ["down", "up"]
    assert tables.point_rows(audit, [1])[0].truth == ""
    neutral = rows[1]
    assert neutral.lower < 0 < neutral.upper
    assert neutral.label == "up"  # the plain SVM has 1.5 there
    assert neutral.changed_by == ", ".join(audit.changed_by(0)) != ""
    assert math.isnan(neutral.radius)
    assert (neutral.n_positive, neutral.n_scalings) == (1, 1)


def test_details_of_a_neutral_point_have_two_rescalings_that_disagree(audit):
    details = tables.point_details(audit, 0)
    assert details["values"] == [-1.0, 4.0]
    assert details["labels"] == [["as given", "up"]]
    up, down = details["rescalings"]
    assert (up["sign"], up["label"], down["sign"], down["label"]) == (1, "up", -1, "down")
    assert up["value"] >= 0 > down["value"]
    for one in (up, down):
        assert one["value"] == pytest.approx(one["base"] + sum(one["contributions"]))
    assert details["text"].startswith("The label depends on the scaling. The decision value lies between -")
    assert details["text"].endswith("Two rescalings that disagree:")


def test_words_of_the_other_verdicts(audit, monkeypatch):
    assert tables.point_details(audit, 1)["text"].startswith("up under every rescaling of the features. The decision")
    assert tables.point_details(audit, 2)["text"].startswith("down under every rescaling")
    assert tables.point_details(audit, 2)["rescalings"] == []
    verdicts = audit.verdicts
    unknown = dataclasses.replace(
        verdicts, code=np.full(3, 2, dtype=np.int8), reason=np.array(["time is up"] * 3, dtype=object)
    )
    undecided = dataclasses.replace(audit, verdicts=unknown)
    assert tables.point_details(undecided, 0)["text"] == "Not decided: time is up."
    assert tables.point_rows(undecided, [0])[0].style == "unknown"
    nowhere = dataclasses.replace(audit, verdicts=dataclasses.replace(verdicts, lower=np.full(3, np.nan)))
    assert tables.point_details(nowhere, 1)["text"] == "up under every rescaling of the features."

    def too_long(self, i):
        raise CertificateError("too long")

    monkeypatch.setattr(type(audit), "two_rescalings", too_long)
    details = tables.point_details(audit, 0)
    assert details["rescalings"] == []
    assert details["text"].endswith("Two that disagree are too extreme to be written down.")


def test_scalings_features_and_figures(audit):
    (given,) = tables.scaling_rows(audit)
    assert (given["name"], given["kind"], given["positive"], given["different"]) == ("as given", "a rescaling", 2, 0.0)
    rows = tables.feature_rows(audit)
    assert [row["name"] for row in rows] == audit.feature_names
    assert [row["alone"] for row in rows] == audit.features["alone"].tolist()
    plain, strong = tables.strong_rows(audit)
    assert (plain["name"], strong["name"]) == ("plain SVM", "strong verdicts")
    assert plain["figures"].tp == 1
    assert plain["figures"].tn == 1
    assert tables.strong_rows(dataclasses.replace(audit, report=None)) == []


def test_every_kind_of_scaling_has_a_word(audit):
    (given,) = audit.scalings
    for kind in ("diagonal", "selection", "other", "none"):
        other = dataclasses.replace(
            given, name="s", kind=kind, values=None if kind == "none" else given.values, note="n"
        )
        row = tables.scaling_rows(dataclasses.replace(audit, scalings=[given, other]))[1]
        assert row["note"] == "n"
        assert row["positive"] == (None if kind == "none" else 2)
        assert math.isnan(row["different"]) == (kind == "none")
