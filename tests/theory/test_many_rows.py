"""Many rows, solved from those near the margin: the same as all of them at once."""

import numpy as np
import pytest

from rescaleinv.theory import many_rows, nu_margin, separability, soft_margin
from rescaleinv.theory.many_rows import sample_of, settled_by_few
from rescaleinv.theory.nu_margin import NuMargin, least_nu, nu_svm
from rescaleinv.theory.separability import conflict_of_sample, separation
from rescaleinv.theory.soft_margin import soft_margin_svm
from rescaleinv.theory.training_set import TrainingSet


def overlapping(seed, n_rows=400, n_features=4, distance=1.5):
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n_rows) < 0.4, 1, -1)
    rows = rng.normal(size=(n_rows, n_features)) + distance / np.sqrt(n_features) * signs[:, None]
    weights = rng.choice([1.0, 0.5, 2.0], n_rows)
    return TrainingSet((rows * 10.0 ** rng.uniform(-1, 1, n_features)).round(3), signs, read_as="float"), weights


@pytest.fixture
def few(monkeypatch):
    """Whatever has more than a hundred rows is solved from few of them; tells how many at a time."""
    monkeypatch.setattr(many_rows, "_SAMPLE", 60)
    monkeypatch.setattr(many_rows, "_NEAREST", 40)
    for module in (nu_margin, soft_margin, separability):
        monkeypatch.setattr(module, "MANY", 100)
    seen = []
    for module, name in ((soft_margin, "_solved"), (nu_margin, "_solved"), (nu_margin, "_least_loss")):
        whole = getattr(module, name)

        def counted(rows, *others, whole=whole):
            seen.append(len(rows))
            return whole(rows, *others)

        monkeypatch.setattr(module, name, counted)
    return seen


def of_all_rows(monkeypatch, work):
    with monkeypatch.context() as patched:
        for module in (nu_margin, soft_margin, separability):
            patched.setattr(module, "MANY", 10**9)
        return work()


@pytest.mark.parametrize("seed", range(4))
def test_the_soft_margin_of_many_rows_is_that_of_all(seed, few, monkeypatch):
    ts, weights = overlapping(seed)
    found = soft_margin_svm(ts, 0.7, weights)
    assert max(few) < ts.n_rows, few
    expected = of_all_rows(monkeypatch, lambda: soft_margin_svm(ts, 0.7, weights))
    assert found.weights == pytest.approx(expected.weights, rel=1e-6)
    assert found.intercept == pytest.approx(expected.intercept, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_least_nu_of_many_rows_is_that_of_all(seed, few, monkeypatch):
    ts, weights = overlapping(seed)
    found = least_nu(ts, weights)
    assert max(few) < ts.n_rows, few
    assert found == pytest.approx(of_all_rows(monkeypatch, lambda: least_nu(ts, weights)), rel=1e-9)


@pytest.mark.parametrize("above", [1.02, 1.5, None])
@pytest.mark.parametrize("seed", range(3))
def test_the_nu_svm_of_many_rows_is_that_of_all(seed, above, few, monkeypatch):
    ts, weights = overlapping(seed)
    nu = float(nu_margin.largest_nu(ts, weights)) if above is None else above * least_nu(ts, weights)
    margin = NuMargin.of(ts, nu, weights)
    few.clear()
    found = nu_svm(ts, margin)
    expected = of_all_rows(monkeypatch, lambda: nu_svm(ts, margin))
    assert min(few) < ts.n_rows
    assert found.weights == pytest.approx(expected.weights, rel=1e-5)
    assert found.intercept == pytest.approx(expected.intercept, rel=1e-5)


def test_caps_and_the_largest_nu_count_rows_of_one_weight_together():
    ts, weights = overlapping(0)
    margin = NuMargin.of(ts, 0.6, weights)
    assert margin.caps == pytest.approx(weights / (0.6 * weights.sum()), rel=1e-15)
    assert margin.exact_caps[3] * sum(map(int, 2 * weights)) * margin.nu == int(2 * weights[3])
    lighter = min(weights[ts.signs > 0].sum(), weights[ts.signs < 0].sum())
    assert float(nu_margin.largest_nu(ts, weights)) == 2 * lighter / weights.sum()


def test_a_conflict_of_a_sample_is_one_of_all_rows(few):
    ts, _ = overlapping(1)
    found = conflict_of_sample(ts)
    assert found is not None
    assert set(found.conflict) <= set(sample_of(ts.signs).tolist())
    for sign in (1, -1):
        assert sum(a for i, a in found.conflict.items() if ts.signs[i] == sign) > 0
    assert not any(ts.exact_gradient(found.conflict))  # a point of both hulls
    assert separation(ts).conflict == found.conflict


def test_a_sample_without_a_conflict_says_nothing(few):
    signs = np.tile([1, -1], 100)
    rows = np.column_stack([signs * 1.0, np.arange(200.0)])
    rows[151] = 1.0, 151  # one row is on the wrong side, and not in the sample
    assert 151 not in sample_of(signs)
    ts = TrainingSet(rows, signs)
    assert conflict_of_sample(ts) is None
    assert not separation(TrainingSet(rows[:, :1], signs)).separable


def test_rows_on_the_wrong_side_count_until_there_are_none(few):
    """A first guess that is wrong about every row ends in taking all rows."""
    first = np.linspace(-1, 1, 1000)
    calls = []

    def solve(counts, inside):
        calls.append(int(counts.sum()))
        return "found", -first

    assert settled_by_few(first, solve) is None
    assert calls == [40, 80, 160, 320]
    assert settled_by_few(first, lambda counts, inside: ("found", first)) == "found"
    assert settled_by_few(first, lambda counts, inside: None) is None
