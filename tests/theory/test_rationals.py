"""Exact linear algebra against plain elimination, python-flint and scipy; exact feasibility against its own proof."""

from fractions import Fraction

import numpy as np
import pytest
from brute_force import gaussian_elimination
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

from rescaleinv.theory import rationals
from rescaleinv.theory.rationals import least_cost_solution, nonnegative_solution, rounded, solve, solve_in_integers


def to_flint(matrix):
    return fmpq_mat([[fmpq(Fraction(v).numerator, Fraction(v).denominator) for v in line] for line in matrix])


def from_flint(column):
    return [Fraction(int(v.p), int(v.q)) for v in column.entries()]


def random_rationals(rng, shape, largest=9):
    numerators = rng.integers(-largest, largest + 1, shape).tolist()
    denominators = rng.integers(1, largest + 1, shape).tolist()
    if isinstance(shape, int):
        return [Fraction(p, q) for p, q in zip(numerators, denominators, strict=True)]
    return [
        [Fraction(p, q) for p, q in zip(*lines, strict=True)] for lines in zip(numerators, denominators, strict=True)
    ]


def times(matrix, vector):
    return [sum((Fraction(a) * x for a, x in zip(line, vector, strict=True)), Fraction(0)) for line in matrix]


@pytest.fixture(params=["with flint", "without"], autouse=True)
def flint(request, monkeypatch):
    """Systems of all sizes by python-flint, or none."""
    monkeypatch.setattr(rationals, "_FLINT_FROM", 1 if request.param == "with flint" else 10**9)


def test_without_flint_systems_are_solved_all_the_same(monkeypatch):
    monkeypatch.setattr(rationals, "_integer_matrix", lambda: None)
    assert solve([[2, 1], [1, 3]], [1, 2]) == [Fraction(1, 5), Fraction(3, 5)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("seed", range(4))
def test_solve_agrees_with_elimination_and_flint(size, seed):
    rng = np.random.default_rng([size, seed])
    matrix, right = random_rationals(rng, (size, size)), random_rationals(rng, size)
    answer = solve(matrix, right)
    expected = gaussian_elimination(matrix, right)
    assert answer == expected
    if answer is not None:
        assert answer == from_flint(to_flint(matrix).solve(to_flint([[v] for v in right])))


@pytest.mark.parametrize("seed", range(40))
def test_solve_knows_singular_matrices(seed):
    """A quarter of these small integer matrices is singular, and zero pivots ask for exchanges of rows."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    matrix = rng.integers(-1, 2, (size, size)).tolist()
    right = rng.integers(-3, 4, size).tolist()
    singular = to_flint(matrix).det() == 0
    assert (solve(matrix, right) is None) == singular
    assert solve(matrix, right) == gaussian_elimination(matrix, right)


@pytest.mark.parametrize("size", [4, 10, 20])
def test_solve_hilbert_exactly(size):
    """Its condition number at 10 is 1e13, at 20 beyond a float: only exact arithmetic gets the ones back."""
    hilbert = [[Fraction(1, i + j + 1) for j in range(size)] for i in range(size)]
    assert solve(hilbert, times(hilbert, [1] * size)) == [1] * size


def test_solve_nearly_singular_with_floats_as_the_rationals_they_are():
    tiny = 2.0**-1000
    assert solve([[1.0, 1.0], [1.0, 1.0 + 2**-52]], [0.0, tiny]) == [-(Fraction(2) ** -948), Fraction(2) ** -948]


def test_solve_of_nothing_is_nothing():
    assert solve([], []) == []


def test_numpy_integers_do_not_overflow():
    big = 2**62
    right = [Fraction(1, 3), 2]
    assert solve(np.array([[big, 1], [1, big]]), right) == solve([[big, 1], [1, big]], right)
    answer = nonnegative_solution(np.array([[big, big]]), [Fraction(1, 3)]).solution
    assert times([[big, big]], answer) == [Fraction(1, 3)]


def assert_proved(matrix, right, first=()):
    """Check the answer by its own proof, independence of the columns included; return whether there is a solution."""
    answer = nonnegative_solution(matrix, right, first)
    assert (answer.solution is None) != (answer.refutation is None)
    if answer.solution is not None:
        assert min(answer.solution, default=0) >= 0
        assert times(matrix, answer.solution) == [Fraction(v) for v in right]
        used = [j for j, x in enumerate(answer.solution) if x]
        if used:
            assert to_flint([[line[j] for j in used] for line in matrix]).rank() == len(used), "not basic"
        return True
    y = answer.refutation
    assert max(times(list(zip(*matrix, strict=True)), y), default=0) <= 0
    assert sum(a * Fraction(v) for a, v in zip(y, right, strict=True)) > 0
    return False


def degenerate_system(rng):
    """Integers or rationals with redundant, zero and repeated rows, zero and negative right-hand sides."""
    n_rows, n_columns = int(rng.integers(1, 6)), int(rng.integers(1, 8))
    if rng.random() < 0.5:
        matrix = [[Fraction(v) for v in line] for line in rng.integers(-2, 3, (n_rows, n_columns)).tolist()]
    else:
        matrix = random_rationals(rng, (n_rows, n_columns), 4)
    if rng.random() < 0.5:  # a solution exists, at a vertex or not
        right = times(matrix, [Fraction(int(v)) for v in rng.integers(0, 3, n_columns)])
    else:
        right = [Fraction(int(v)) for v in rng.integers(-2, 3, n_rows)]
    if rng.random() < 0.3:
        matrix.append([sum(column) for column in zip(*matrix, strict=True)])
        right.append(sum(right))
    if rng.random() < 0.3:
        matrix.append([-3 * v for v in matrix[0]])
        right.append(-3 * right[0] + (rng.random() < 0.2))
    if rng.random() < 0.3:
        matrix.insert(0, [Fraction(0)] * n_columns)
        right.insert(0, Fraction(int(rng.random() < 0.2)))
    return matrix, right


def test_nonnegative_solution_proves_each_answer():
    rng = np.random.default_rng(0)
    answers = [assert_proved(*degenerate_system(rng)) for _ in range(600)]
    assert 150 < sum(answers) < 450  # both kinds occur


def test_a_hint_changes_nothing_but_the_route():
    rng = np.random.default_rng(1)
    for _ in range(200):
        matrix, right = degenerate_system(rng)
        n_columns = len(matrix[0])
        hint = rng.permutation(n_columns)[: rng.integers(0, n_columns + 1)].tolist()
        assert assert_proved(matrix, right, [*hint, *hint]) == assert_proved(matrix, right)


def test_the_hint_is_taken():
    """x1 + x2 + x3 = 1 has three basic solutions; the hint says which one."""
    for j in range(3):
        assert nonnegative_solution([[1, 1, 1]], [1], first=[j]).solution[j] == 1


def test_agrees_with_scipy_on_clear_cases():
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(60):
        n_rows, n_columns = int(rng.integers(2, 7)), int(rng.integers(3, 12))
        matrix = rng.normal(size=(n_rows, n_columns))
        right = rng.normal(size=n_rows)
        float_answer = linprog(np.zeros(n_columns), A_eq=matrix, b_eq=right)
        assert float_answer.status in (0, 2)
        feasible = assert_proved(matrix.tolist(), right.tolist())
        assert feasible == (float_answer.status == 0)
        seen.add(feasible)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("matrix", "right", "feasible"),
    [
        ([[0, 0]], [0], True),
        ([[0, 0]], [1], False),
        ([[0, 0]], [-1], False),
        ([[1, -1]], [0], True),
        ([[1, 1]], [-1], False),
        ([[-1, -1]], [-1], True),
        ([[1, 0], [1, 0]], [1, 2], False),
        ([[1, 2], [2, 4], [3, 6]], [1, 2, 3], True),
        ([[1, 1], [1, 1 + 2.0**-52]], [1, 1 - 2.0**-52], False),  # x2 = -1
        ([[1, 1], [1, 1 + 2.0**-52]], [1, 1 + 2.0**-53], True),
    ],
)
def test_small_cases(matrix, right, feasible):
    assert assert_proved(matrix, right) is feasible


def test_no_rows_and_no_columns():
    assert nonnegative_solution([], []).solution == []
    assert nonnegative_solution([[], []], [0, 0]).solution == []
    assert nonnegative_solution([[], []], [0, 3]).refutation == [1, 1]


def test_beales_cycling_example_ends():
    """Beale's columns make the rule of the most negative reduced cost cycle for ever."""
    quarter, half = Fraction(1, 4), Fraction(1, 2)
    matrix = [
        [quarter, -60, -Fraction(1, 25), 9, 1, 0, 0],
        [half, -90, -Fraction(1, 50), 3, 0, 1, 0],
        [0, 0, 1, 0, 0, 0, 1],
    ]
    right = [0, 0, 1]
    cost = [-Fraction(3, 4), 150, -Fraction(1, 50), 6, 0, 0, 0]
    best = least_cost_solution(matrix, right, [cost])
    assert sum(c * x for c, x in zip(cost, best.solution, strict=True)) == -Fraction(1, 20)


def test_least_cost_agrees_with_scipy():
    """Of two cost rows the second decides among the optima of the first, which small integers make frequent."""
    rng = np.random.default_rng(3)
    decided_by_the_second = outcomes = 0
    for _ in range(150):
        matrix, right = degenerate_system(rng)
        n_columns = len(matrix[0])
        first, second = rng.integers(0, 2, (2, n_columns)).tolist()
        best = least_cost_solution(matrix, right, [first, second])
        floats, target = np.array(matrix, dtype=float), np.array(right, dtype=float)
        float_first = linprog(first, A_eq=floats, b_eq=target)
        assert (best is None) == (float_first.status == 2)
        if best is None:
            continue
        outcomes += 1
        assert min(best.solution) >= 0
        assert times(matrix, best.solution) == right
        assert {j for j, x in enumerate(best.solution) if x} <= set(best.basis)
        cost = sum(c * x for c, x in zip(first, best.solution, strict=True))
        assert float(cost) == pytest.approx(float_first.fun, abs=1e-9)
        float_second = linprog(second, A_eq=np.vstack([floats, first]), b_eq=[*target, float(cost)])
        cost = sum(c * x for c, x in zip(second, best.solution, strict=True))
        assert float(cost) == pytest.approx(float_second.fun, abs=1e-7)
        decided_by_the_second += float(cost) < np.dot(second, float_first.x) - 1e-9
    assert outcomes > 50
    assert decided_by_the_second > 5


def test_a_cost_without_a_bound_is_said_to_be_so():
    with pytest.raises(ArithmeticError, match="no lower bound"):
        least_cost_solution([[1, -1]], [0], [[-1, 0]])
    assert least_cost_solution([[1, 1]], [-1], [[-1, 0]]) is None


@pytest.mark.parametrize("bits", [1, 8, 20, 53])
def test_squared_factors_are_short_and_near(bits):
    rng = np.random.default_rng(4)
    for exponent in (-300, -3, 0, 4, 300):
        for value in rng.uniform(1, 10, 20).tolist():
            exact = Fraction(value) * Fraction(10) ** exponent
            short = rounded(exact, bits)
            assert abs(short / exact - 1) <= Fraction(1, 2**bits)
            odd = short.numerator * short.denominator
            while odd % 2 == 0:
                odd //= 2
            assert odd.bit_length() <= bits + 1


@pytest.mark.parametrize("seed", range(5))
def test_several_right_hand_sides_at_once_are_those_of_one_after_the_other(seed):
    rng = np.random.default_rng(seed)
    size, sides = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    matrix = rng.integers(-5, 6, (size, size)).tolist()
    right = rng.integers(-5, 6, (size, sides)).tolist()
    found = solve_in_integers(matrix, right)
    columns = [solve(matrix, [line[k] for line in right]) for k in range(sides)]
    if columns[0] is None:
        assert found is None
    else:
        numerators, denominator = found
        assert denominator > 0
        assert [[Fraction(line[k], denominator) for line in numerators] for k in range(sides)] == columns
