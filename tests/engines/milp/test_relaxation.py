"""The mixed-integer program: every rescale-optimal classifier is a solution of it, and clauses cut none of them off."""

from fractions import Fraction

import numpy as np
from brute_force import rescale_optimal_cells
from small_sets import points_near, small_set

from rescaleinv.engines.milp import relaxation
from rescaleinv.theory.optimality import probe_closed_cell
from rescaleinv.theory.training_set import TrainingSet


def test_the_clause_names_every_row_that_helps_and_not_only_those_of_the_candidate():
    """X = (0,1)+, (0,0)-, (1,0)+ with rows 0 and 1 tight and both weights positive: row 2 must be left a way out."""
    training_set = TrainingSet([[0, 1], [0, 0], [1, 0]], [1, -1, 1])
    model = relaxation.Relaxation(training_set)
    refuted = probe_closed_cell(training_set, [0, 1], [1, 1])
    assert not refuted.holds
    clause, about = model.refuted(refuted, [1, 1])
    assert about == [0]
    assert clause.on == {model.tight(2)}
    real = np.zeros(model.n_variables)
    real[[model.tight(0), model.tight(1), model.tight(2), model.signed(0, 1), model.signed(1, 1)]] = 1
    assert probe_closed_cell(training_set, [0, 1, 2], [1, 1]).holds
    assert not clause.rules_out(real)
    real[model.tight(2)] = 0
    assert clause.rules_out(real)


def solution_of(model, training_set, cell):
    """The variables of the program at the middle of a cell of RO(X), from brute force and multipliers in rationals."""
    n = training_set.n_features
    share = Fraction(1, len(cell.vertices))
    weights = [share * sum(v.weights[j] for v in cell.vertices) for j in range(n)]
    intercept = share * sum(v.intercept for v in cell.vertices)
    multipliers = probe_closed_cell(training_set, sorted(cell.tight), cell.signs).multipliers
    units = [Fraction(2) ** int(e) for e in training_set.conditioning.exponent]
    conditioned = [w * u for w, u in zip(weights, units, strict=True)]
    size = sum(map(abs, conditioned))
    lowest = [Fraction(x) for x in training_set.features.min(axis=0).tolist()]
    offset = intercept + sum(w * x for w, x in zip(weights, lowest, strict=True))
    total = sum(multipliers.values())
    values = np.zeros(model.n_variables)
    values[:n] = [max(float(w / size), 0.0) for w in conditioned]
    values[n : 2 * n] = [max(float(-w / size), 0.0) for w in conditioned]
    values[2 * n], values[2 * n + 1] = float(offset / size), float(1 / size)
    for i, a in multipliers.items():
        values[2 * n + 2 + i] = float(a / total)
    for i in cell.tight:
        values[model.tight(i)] = 1
    for j, s in enumerate(cell.signs):
        if s:
            values[model.signed(j, s)] = 1
    return values, weights, intercept


def test_every_cell_of_the_brute_force_is_a_solution_of_the_program():
    rng = np.random.default_rng(8)
    checked = 0
    for _ in range(30):
        training_set = small_set(rng)
        model = relaxation.Relaxation(training_set)
        point = points_near(rng, training_set, 1)[0]
        for cell in rescale_optimal_cells(training_set):
            values, weights, intercept = solution_of(model, training_set, cell)
            f = sum(w * Fraction(x) for w, x in zip(weights, point.tolist(), strict=True)) + intercept
            side = -1 if f >= 0 else 1  # the classifier is on the other side of the point's own label
            assert model.question(point, side, []).violation(values) < 1e-12
            candidate = model.candidate(values)
            assert set(candidate.declared_tight) == cell.tight
            assert tuple(candidate.declared_signs) == cell.signs
            checked += 1
    assert checked > 40


def test_no_clause_cuts_off_a_cell_of_the_brute_force():
    rng = np.random.default_rng(9)
    refutations = 0
    for _ in range(15):
        training_set = small_set(rng)
        model = relaxation.Relaxation(training_set)
        real = [solution_of(model, training_set, cell)[0] for cell in rescale_optimal_cells(training_set)]
        for _ in range(10):
            tight = np.flatnonzero(rng.random(training_set.n_rows) < 0.6).tolist()
            signs = rng.integers(-1, 2, training_set.n_features).tolist()
            if not tight or not any(signs):
                continue
            test = probe_closed_cell(training_set, tight, signs)
            if not test.holds:
                clause, about = model.refuted(test, signs)
                assert about
                assert not any(clause.rules_out(values) for values in real)
                refutations += 1
    assert refutations > 40
