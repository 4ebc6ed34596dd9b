"""The findings say what the numbers say."""

import re

import numpy as np
import pandas as pd

from rescaleinv import RescaleInvariantSVC, scaling_audit
from rescaleinv.audit.findings import percent


def test_findings_say_what_the_numbers_say(audit, tumours):
    text = str(audit)
    neutral, strong = int(audit.verdicts.neutral.sum()), int(audit.verdicts.strong.sum())
    assert text.startswith(
        f"Hard margin; 30 training rows\n- {neutral} of 80 tumours ({percent(neutral / 80)}) are neutral"
    )
    assert f"{strong} of 80 tumours" in text
    shares = audit.features["alone"]
    top = shares.idxmax()
    points = round(shares[top] * 80)
    assert f"{percent(shares[top])} of these tumours would be told something else if {top} alone" in text
    factor, some = re.search(rf"a factor of (\d+) is enough for (?:(\d+) of these|all) {points}\.", text).groups()
    powers = np.abs(audit.alone[list(shares.index).index(top)].flipping_power)
    needed = sorted(2 ** int(power) for power in powers if power)
    assert int(factor) == needed[len(needed) // 2]  # half of them change up to there
    assert int(some or points) == sum(one <= int(factor) for one in needed)
    quiet = int((audit.verdicts.neutral & ~audit.split).sum())
    assert f"Of {quiet} of the neutral tumours all of these scalings give the same label" in text
    truth = tumours[1][30:110]
    right = (np.where(audit.values >= 0, 1, -1) == truth).mean()
    assert f"the plain SVM labels {percent(right)} correctly" in text
    strong_right = (audit.verdicts.code == truth)[audit.verdicts.strong].mean()
    assert f"{percent(strong_right)} of the strong verdicts are right" in text


def test_a_training_set_that_no_scaling_changes():
    audit = scaling_audit([[-1, 5], [5, -1], [1, 1]], [1, 1, -1], [[0, 0], [3, 3]])
    assert audit.findings[0].text.startswith("Scaling makes no difference")
    assert not any(one.flips.any() for one in audit.alone)


def test_without_other_scalings_the_discrepancy_has_a_bound_only():
    """A budget that is over at once: nothing is compared."""
    rows, labels = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]
    audit = scaling_audit(rows, labels, [[-1, 4], [4, 4]], scalings={}, most_radii=0, budget=1e-9)
    assert np.isnan(audit.multiplicity["all"].discrepancy)
    assert "discrepancy at most 100 %" in str(audit)
    assert "nan" not in str(audit)


def test_undecided_points_and_rows_left_out_are_said(tumours):
    features, labels = tumours
    stopped = RescaleInvariantSVC(engine="complex", max_vertices=2, inconsistent="drop")
    features = features.iloc[:, :6]
    rows = pd.concat([features[:30], features[:1]])
    audit = scaling_audit(
        rows, [*labels[:30], -labels[0]], features[30:50], estimator=stopped, scalings={}, most_radii=0
    )
    assert audit.verdicts.unknown.any()
    alarm, pinned = [finding.text for finding in audit.findings if finding.alarm]
    assert pinned.endswith("it pins the hyperplane: fewer labels depend on scaling than do with all rows.")
    assert str(audit).startswith(f"Hard margin on {31 - len(audit.model.dropped_)} of 31 rows\n")
    assert alarm.startswith(f"{audit.verdicts.unknown.sum()} of 20 points")
    complete = scaling_audit(
        rows,
        [*labels[:30], -labels[0]],
        features[30:50],
        estimator=RescaleInvariantSVC(inconsistent="drop"),
        scalings={},
        most_radii=0,
    )
    assert (complete.verdicts.neutral | ~audit.changed).all()
    known = int((audit.changed & audit.verdicts.unknown).sum())
    assert known == 0 or f"{known} of these depend on the scaling all the same" in alarm
    np.testing.assert_array_equal(complete.changed, audit.changed)
    assert audit.changed.sum() >= max(one.flips.sum() for one in audit.alone) > 0
    assert len(audit.model.dropped_) > 0
    assert f"\n- {len(audit.model.dropped_)} of 31 training rows were left out" in str(audit)


def test_findings_about_units(limited):
    units, text = limited.limited, str(limited)
    assert f"{len(units.changed)} can change" in text.splitlines()[1]  # after the line that says which SVM it is
    j = int(units.kept.argmax())
    name = limited.feature_names[j]
    assert (
        f"{units.kept[j]} of the {len(units.changed)} points whose label can change within a factor of {units.kappa:g} "
        f"would keep it if the unit of {name} were fixed" in text
    )
