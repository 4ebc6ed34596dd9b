"""Models as plain arrays: violations are measured, rows collected, and answers that do not fit are failures."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rescaleinv.engines.milp.solvers.model import (
    CAREFUL_TOLERANCE,
    TIGHT_TOLERANCE,
    TOLERANCE,
    Answer,
    Model,
    RowBuilder,
    checked,
    feasibility_tolerance,
)


def box(matrix, low, high):
    n = len(matrix[0])
    return Model(np.zeros(n), np.ones(n), np.zeros(n, dtype=bool), csr_array(matrix), np.array(low), np.array(high))


@pytest.mark.parametrize(
    ("values", "missed"),
    [
        ([0.5, 0.5], 0.0),
        ([1.25, 0.0], 0.25),
        ([-0.5, 1.0], 0.5),
        ([0.0, 0.0], 0.5),
        ([np.nan, 0.0], np.inf),
        ([1.0], np.inf),
    ],
)
def test_violation_is_the_worst_of_bounds_and_rows(values, missed):
    model = box([[1.0, 2.0]], [1.0], [np.inf])  # rows count relative to their largest entry
    assert model.violation(np.array(values)) == missed


def test_integers_count_and_more_rows_keep_the_old_ones():
    model = Model(np.zeros(1), np.ones(1), np.ones(1, dtype=bool), csr_array([[1.0]]), np.zeros(1), np.ones(1))
    assert model.violation(np.array([0.75])) == 0.25
    more = model.with_rows(csr_array([[-1.0]]), np.array([-0.5]), np.array([np.inf]))
    assert more.violation(np.array([1.0])) == 0.5
    assert model.violation(np.array([1.0])) == 0.0


def test_collected_rows_have_no_zeros():
    builder = RowBuilder(3)
    builder.add([0, 2], [1.0, 0.0], upper=4.0)
    builder.add([], [], lower=-1.0)
    matrix, low, high = builder.build()
    assert matrix.toarray().tolist() == [[1, 0, 0], [0, 0, 0]]
    assert matrix.nnz == 1
    assert (low.tolist(), high.tolist()) == ([-np.inf, -1], [4, np.inf])


def test_only_numbers_are_a_model():
    assert box([[1.0]], [-np.inf], [np.inf]).is_numeric
    assert not box([[np.inf]], [0.0], [1.0]).is_numeric
    assert not box([[1.0]], [np.nan], [1.0]).is_numeric
    assert box([[1.0]], [0.0], [1.0]).is_bounded


def test_what_backends_may_miss_is_more_than_their_own_tolerances():
    assert (
        TIGHT_TOLERANCE == feasibility_tolerance(False) < feasibility_tolerance(True) == CAREFUL_TOLERANCE < TOLERANCE
    )
    model = box([[1.0, 1.0]], [1.0], [1.0])
    near = Answer("optimal", np.array([1.0, CAREFUL_TOLERANCE]))
    assert checked(model, near) is near
    assert checked(model, Answer("optimal", np.array([1.0, 10 * TOLERANCE]))).status == "failed"
