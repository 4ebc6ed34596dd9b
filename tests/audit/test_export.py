"""An audit as JSON: what its schema says, and the numbers of the audit."""

import copy
import json

import jsonschema
import numpy as np
import pytest

from rescaleinv import RescaleInvariantSVC, scaling_audit
from rescaleinv.audit import audit_schema
from rescaleinv.audit.export import plain


def check(document):
    jsonschema.validate(document, audit_schema(), cls=jsonschema.Draft202012Validator)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(audit_schema())


@pytest.mark.parametrize("name", ["audit", "limited"])
def test_audits_are_as_the_schema_says(name, request):
    audit = request.getfixturevalue(name)
    document = json.loads(audit.to_json())
    check(document)
    frame = audit.to_frame()
    assert [point["verdict"] for point in document["points"]] == frame["verdict"].tolist()
    assert [point["lower"] for point in document["points"]] == audit.verdicts.lower.tolist()
    for scaling, record in enumerate(document["scalings"]):
        shown = [point["labels"][scaling] or "" for point in document["points"]]
        assert shown == frame[f"label, {record['name']}"].tolist()
    assert [one["text"] for one in document["findings"]] == [one.text for one in audit.findings]
    asked = [point["radius"] is not None for point in document["points"]]
    assert asked == (~np.isnan(audit.radius[:, 0])).tolist() if audit.radius is not None else not any(asked)


def test_strong_verdicts_hold_without_end_and_nu_is_named(tmp_path):
    rows, labels = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1], [0, 0.5]], [1, 1, 1, -1, -1]
    audit = scaling_audit(rows, labels, [[-1, 4], [4, 4]], estimator=RescaleInvariantSVC(nu=0.8), scalings={})
    text = audit.to_json(tmp_path / "audit.json")
    assert (tmp_path / "audit.json").read_text(encoding="utf-8") == text
    document = json.loads(text)
    check(document)
    assert document["points"][1]["radius"] == {"certified": "inf", "refuted": "inf"}
    assert "ν = 0.8" in document["margin"]
    assert document["answer"]["total"] == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.pop("answer"),
        lambda one: one.update(version=2),
        lambda one: one["points"][0].update(verdict="positive"),
        lambda one: one["points"][0].update(lower="low"),
        lambda one: one["features"][0].update(alone=1.5),
        lambda one: one["consistency"]["contradictions"].append(["a rescaling", 0]),
    ],
)
def test_another_document_is_refused(change, audit):
    document = copy.deepcopy(json.loads(audit.to_json()))
    change(document)
    with pytest.raises(jsonschema.ValidationError):
        check(document)


def test_nothing_in_json_is_not_json():
    assert plain(
        {
            None: {
                np.float64("-inf"),
            },
            "a": np.array([[True]]),
            "b": object,
        }
    ) == {
        "None": ["-inf"],
        "a": [[True]],
        "b": "<class 'object'>",
    }
