"""The sentence that comes first."""

import numpy as np
import pytest

from rescaleinv.audit.answer import answer_of
from rescaleinv.errors import InputError


def test_labels_are_counted_once():
    rng = np.random.default_rng(0)
    lower = np.exp(rng.uniform(0, 3, 200))
    upper = np.where(rng.random(200) < 0.3, np.inf, lower * 1.1)
    lower[:20] = upper[:20] = np.inf
    found = answer_of(np.column_stack([lower, upper]), 4)
    assert found.hold + found.change + found.open == found.total == 200
    assert found.every == 20
    assert found.hold >= 20
    assert found.within_two <= found.change
    assert (
        f"{found.hold} of 200 labels hold when every feature's scale changes by up to a factor of 4" in found.sentence()
    )
    assert found.sentence().endswith("This is about scaling, not about accuracy.")


def test_a_soft_margin_may_have_no_answer_for_every_rescaling():
    found = answer_of([[2.0, 2.1]], 1.5)
    assert "every rescaling" in found.sentence()
    assert "not settled" not in found.sentence()
    assert "within a factor of 2" not in answer_of([[1.0, 1.2]], 2).sentence()


def test_what_is_no_radius():
    with pytest.raises(InputError, match="per point is needed"):
        answer_of([1.0, 2.0])


def test_groups_are_not_said_to_be_rescaled_feature_by_feature():
    said = answer_of([[np.inf, np.inf], [1.4, 1.5]]).sentence(grouped=True)
    assert "when every feature's scale (features of a group share one factor) changes by up to a factor of 4" in said
    assert "1 holds under every rescaling of the groups" in said
