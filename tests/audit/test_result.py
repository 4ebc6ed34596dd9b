"""What an audit holds: counts by hand, two rescalings that disagree, and the check that finds planted lies."""

import dataclasses

import numpy as np
import pytest
from plain_svm import hard_svm

from rescaleinv.errors import InputError


def test_disagreement_by_plain_counting(audit):
    table = audit.disagreement
    names = [scaling.name for scaling in audit.scalings]
    for a, first in enumerate(names):
        for b, second in enumerate(names):
            if audit.usable[a] and audit.usable[b]:
                different = sum(audit.signs[a, i] != audit.signs[b, i] for i in range(80))
                assert table.loc[first, second] == different / 80
            else:
                assert np.isnan(table.loc[first, second])


def test_the_split_points_have_both_labels(audit):
    frame = audit.to_frame()
    labels = frame[[f"label, {one.name}" for one in audit.scalings if one.values is not None]]
    np.testing.assert_array_equal(audit.split, labels.nunique(axis=1) == 2)
    assert audit.split.any()
    strict = [f"label, {one.name}" for one in audit.scalings if one.bound_by_verdicts and one.values is not None]
    assert (frame.loc[audit.verdicts.strong, strict].nunique(axis=1) == 1).all()


def test_two_rescalings_disagree_about_every_neutral_point(audit, tumours):
    training_set, points = audit.model.training_set_, tumours[0][30:110].to_numpy()
    kinds = set()
    for i in np.flatnonzero(audit.verdicts.neutral):
        positive, negative = audit.two_rescalings(int(i))
        assert positive.value >= 0 > negative.value
        kinds |= {positive.name.partition(" ")[0], negative.name.partition(" ")[0]}
        for one in (positive, negative):
            assert one.value == pytest.approx(one.base + one.contributions.sum())
            value = hard_svm(training_set.features * one.factors, training_set.signs, points[i : i + 1] * one.factors)[
                0
            ]
            if one.factors.max() / one.factors.min() < 50:
                assert value == pytest.approx(one.value, abs=2e-3 * (1 + abs(value)))
                mean = training_set.features.mean(axis=0)[None, :] * one.factors
                at_mean = hard_svm(training_set.features * one.factors, training_set.signs, mean)[0]
                assert at_mean == pytest.approx(one.base, abs=2e-3 * (1 + abs(at_mean)))
    assert {"the", "a"} <= kinds  # the features as given, and the certified two where nothing simpler does
    with pytest.raises(InputError, match="no two rescalings disagree"):
        audit.two_rescalings(int(np.flatnonzero(audit.verdicts.strong)[0]))


def test_the_check_compares_every_rescaling_and_finds_planted_lies(audit):
    assert audit.consistency.holds
    tried = sum(one.bound_by_verdicts and one.values is not None for one in audit.scalings) + 20 * 9
    assert audit.consistency.n_rescalings == tried
    assert audit.consistency.n_labels == tried * audit.verdicts.strong.sum()
    code = audit.verdicts.code.copy()
    i = int(np.flatnonzero(audit.verdicts.strongly_positive)[0])
    code[i] = -1
    lying = dataclasses.replace(audit, verdicts=dataclasses.replace(audit.verdicts, code=code))
    assert not lying.consistency.holds
    assert {point for _, point in lying.consistency.contradictions} == {i}
    assert len(lying.consistency.contradictions) == tried
    (alarm,) = [finding for finding in lying.findings if finding.alarm]
    assert alarm.text.startswith(f"Something is wrong: {tried} labels")
