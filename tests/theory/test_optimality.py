"""Theorem 9 in point form against the pair form, the closure against limits, and rescalings against trained SVMs."""

import warnings
from collections import Counter
from fractions import Fraction
from itertools import combinations

import made_sets
import numpy as np
import pair_form
import pytest
from sklearn.svm import SVC

import rescaleinv.theory.optimality as optimality
from rescaleinv.errors import InputError, InseparableError
from rescaleinv.theory.exact_svm import exact_svm
from rescaleinv.theory.optimality import in_closure, is_rescale_optimal, probe_cell, probe_closed_cell, rescaling_of
from rescaleinv.theory.separability import is_separable, separable_subset
from rescaleinv.theory.svm import exact_svm_at, minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

SHIPPED = ("breast_cancer_wisconsin", "pima_diabetes", "blood_transfusion", "fertility", "banknote")
EXAMPLE_1 = TrainingSet([[-1, 5], [5, -1], [1.5, 1.5], [1, 1]], [1, 1, 1, -1])
TWO_POINTS = TrainingSet([[1, 1], [-1, -1]], [1, -1])


def small_integer_sets(seed, count):
    """Separable sets of small integers: 1 to 4 features, 2 to 8 rows."""
    rng = np.random.default_rng(seed)
    while count:
        rows, n = int(rng.integers(2, 9)), int(rng.integers(1, 5))
        labels = np.where(rng.random(rows) < 0.5, 1, -1)
        if abs(labels.sum()) == rows:
            continue
        training_set = TrainingSet(rng.integers(-2, 3, (rows, n)).astype(float), labels)
        if is_separable(training_set):
            count -= 1
            yield training_set


def restricted(training_set, features):
    return TrainingSet(training_set.features[:, features], training_set.signs)


def short_exact_svm(training_set, rng):
    """The SVM of random factors that are short numbers, without a float's guess."""
    squared = [Fraction(int(p), int(q)) for p, q in rng.integers(1, 100, (training_set.n_features, 2))]
    return exact_svm(training_set, squared, [])


def svms_on_parts(training_set, rng):
    """Exact SVMs on each part of the features that separates, with zeros elsewhere: limits of SVMs of rescalings."""
    n = training_set.n_features
    for size in range(1, n + 1):
        for part in combinations(range(n), size):
            try:
                svm = short_exact_svm(restricted(training_set, part), rng)
            except InseparableError:  # this part does not separate
                continue
            weights = [Fraction(0)] * n
            for j, w in zip(part, svm.weights, strict=True):
                weights[j] = w
            yield weights, svm.intercept


def rescaled_to_margin_one(training_set, weights):
    """The multiple of w whose least w·λ is 1, or None where there is none."""
    least = min(pair_form.dot(weights, pair) for pair in pair_form.pair_vectors(training_set))
    return [w / least for w in weights] if least > 0 else None


def interesting_weights(training_set, rng):
    """In RO(X), in its closure, between such, near such, and anywhere in G(X)."""
    found = [short_exact_svm(training_set, rng).weights for _ in range(2)]
    found += [weights for weights, _ in svms_on_parts(training_set, rng)]
    for _ in range(4):
        u, v = (found[k] for k in rng.integers(0, len(found), 2))
        found.append([(a + b) / 2 for a, b in zip(u, v, strict=True)])
    for _ in range(4):
        u = found[rng.integers(len(found))]
        found.append([a + Fraction(int(z), 4) for a, z in zip(u, rng.integers(-1, 2, len(u)), strict=True)])
    found.append([2 * w for w in found[0]])
    for weights in found:
        yield weights
        if (scaled := rescaled_to_margin_one(training_set, weights)) is not None:
            yield scaled


def compare_forms(training_set, rng, most_tight=16):
    """Compare point and pair form on many weights; return how often each answer came up."""
    counts = {"optimal": 0, "closure only": 0, "neither": 0}
    for weights in interesting_weights(training_set, rng):
        tight = pair_form.tight_pairs(training_set, weights)
        if tight is not None and len(tight) > most_tight:
            continue  # too many bases for the reference
        optimal = pair_form.is_rescale_optimal(training_set, weights)
        closure = pair_form.in_closure(training_set, weights)
        assert is_rescale_optimal(training_set, weights, tolerance=0) == optimal
        assert in_closure(training_set, weights, tolerance=0) == closure
        middle = training_set.middle_intercept(weights)
        assert is_rescale_optimal(training_set, weights, middle, tolerance=0) == optimal
        assert not is_rescale_optimal(training_set, weights, middle + Fraction(1, 10**30), tolerance=0)
        assert closure or not optimal
        counts["optimal" if optimal else "closure only" if closure else "neither"] += 1
    return counts


def total(counts):
    return dict(sum((Counter(count) for count in counts), Counter()))


def test_point_form_is_the_pair_form_on_small_integers():
    rng = np.random.default_rng(0)
    seen = total(compare_forms(training_set, rng) for training_set in small_integer_sets(0, 30))
    assert min(seen.values()) > 100, seen


@pytest.mark.parametrize("maker", made_sets.MAKERS.values(), ids=made_sets.MAKERS.keys())
def test_point_form_is_the_pair_form_on_made_sets(maker):
    rng = np.random.default_rng(1)
    seen = total(compare_forms(maker(seed, n_features=n), rng) for seed, n in enumerate((1, 2, 3)))
    assert seen["optimal"] >= 8, seen
    assert seen["neither"] >= 3, seen


@pytest.mark.parametrize("name", ["blood_transfusion", "banknote"])
def test_point_form_is_the_pair_form_on_raw_data(name):
    rng = np.random.default_rng(2)
    seen = compare_forms(made_sets.drawn_from(name, 0)[0], rng)
    assert seen["optimal"] >= 2, seen
    assert seen["neither"] >= 2, seen


def test_example_1_of_the_paper():
    """With (3/2, 3/2) for (7/5, 7/5), which no float is: RO(X) is the segment from (7/3, 5/3) to (5/3, 7/3)."""
    for k in range(-2, 13):
        first = Fraction(7, 3) - Fraction(k, 15)
        weights = [first, 4 - first]
        inside = 0 <= k <= 10
        assert is_rescale_optimal(EXAMPLE_1, weights, tolerance=0) is inside
        assert in_closure(EXAMPLE_1, weights, tolerance=0) is inside
    assert not is_rescale_optimal(EXAMPLE_1, [3, 3])
    assert not in_closure(EXAMPLE_1, [1, 1])


def test_a_limit_that_is_no_svm():
    assert not is_rescale_optimal(TWO_POINTS, [1, 0], 0, tolerance=0)
    assert in_closure(TWO_POINTS, [1, 0], 0, tolerance=0)
    with pytest.raises(InputError, match="not in RO"):
        rescaling_of(TWO_POINTS, [1, 0], 0)


@pytest.mark.parametrize("name", SHIPPED)
def test_svms_on_parts_of_the_features_are_in_the_closure(name):
    """As the limit argument says; and the SVMs of ever smaller factors of the other features tend to them."""
    training_set, _ = made_sets.drawn_from(name, 1)
    training_set = restricted(training_set, range(4))
    if not is_separable(training_set):
        training_set = separable_subset(training_set).training_set
    rng = np.random.default_rng(3)
    parts = list(svms_on_parts(training_set, rng))
    assert parts
    for weights, intercept in parts:
        assert in_closure(training_set, weights, intercept, tolerance=0)
        assert in_closure(training_set, [float(w) for w in weights], float(intercept))


def test_the_closure_is_a_limit_of_svms_of_rescalings():
    rng = np.random.default_rng(4)
    for training_set in small_integer_sets(5, 15):
        n = training_set.n_features
        for size in range(1, n):
            for part in combinations(range(n), size):
                factors = [Fraction(int(v), 50) for v in rng.integers(1, 100, size)]
                try:
                    inner = exact_svm(restricted(training_set, part), factors, [])
                except InseparableError:  # this part does not separate
                    continue
                limit = np.zeros(n)
                limit[list(part)] = [float(w) for w in inner.weights]
                small = [Fraction(1, 2**80)] * n
                for j, factor in zip(part, factors, strict=True):
                    small[j] = factor
                near = exact_svm(training_set, small, [])
                assert np.abs(np.array([float(w) for w in near.weights]) - limit).max() < 1e-9
                assert is_rescale_optimal(training_set, near.weights, near.intercept, tolerance=0)


def assert_proof(training_set, tight, signs, test, closed):
    """The test's own proof, in exact arithmetic on the rows as they are given."""
    rows = [[Fraction(x) for x in training_set.features[i].tolist()] for i in tight]
    labels = [int(training_set.signs[i]) for i in tight]
    assert test.holds == (test.direction is None)
    if test.holds:
        a = [test.multipliers.get(i, Fraction(0)) for i in tight]
        assert set(test.multipliers) <= set(tight)
        assert min(a, default=0) >= 0
        assert sum(m * y for m, y in zip(a, labels, strict=True)) == 0
        for j, s in enumerate(signs):
            mu = sum((m * y * row[j] for m, y, row in zip(a, labels, rows, strict=True)), Fraction(0))
            assert s * mu > 0 if s else (closed or mu == 0)
        return
    h, t = test.direction
    for j, s in enumerate(signs):
        assert h[j] * s >= 0
        assert s or not closed or h[j] == 0  # where s_j = 0, h_j is free for a cell of RO(X), 0 for the closure
    assert any(h[j] * s > 0 for j, s in enumerate(signs))
    assert max(y * (pair_form.dot(h, row) + t) for y, row in zip(labels, rows, strict=True)) <= 0


def random_cells(training_set, rng, count):
    """Rows and signs of true classifiers, and any others."""
    for _ in range(count):
        svm = exact_svm_at(training_set, made_sets.random_rescaling(rng, training_set.n_features, 1))
        margins = training_set.exact_margins(svm.weights, svm.intercept)
        yield [i for i, m in enumerate(margins) if m == 1], [(w > 0) - (w < 0) for w in svm.weights]
        size = int(rng.integers(1, training_set.n_rows + 1))
        tight = rng.permutation(training_set.n_rows)[:size].tolist()
        signs = rng.integers(-1, 2, training_set.n_features).tolist()
        if any(signs):
            yield tight, signs


def both_tests_proved(training_set, rng, count):
    outcomes = {True: 0, False: 0}
    for tight, signs in random_cells(training_set, rng, count):
        cell = probe_cell(training_set, tight, signs)
        assert_proof(training_set, tight, signs, cell, closed=False)
        closed = probe_closed_cell(training_set, tight, signs)
        assert_proof(training_set, tight, signs, closed, closed=True)
        assert closed.holds or not cell.holds
        outcomes[cell.holds] += 1
    assert outcomes[True] >= count
    return outcomes


def test_every_answer_about_a_cell_is_proved():
    rng = np.random.default_rng(5)
    for training_set in small_integer_sets(6, 25):
        both_tests_proved(training_set, rng, 3)


@pytest.mark.parametrize("maker", made_sets.MAKERS.values(), ids=made_sets.MAKERS.keys())
def test_every_answer_about_a_cell_of_a_made_set_is_proved(maker):
    rng = np.random.default_rng(6)
    for seed in range(7):
        both_tests_proved(maker(seed), rng, 2)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_answer_about_a_cell_of_raw_data_is_proved(name):
    outcomes = both_tests_proved(made_sets.drawn_from(name, 2)[0], np.random.default_rng(7), 4)
    assert outcomes[False] > 0


@pytest.mark.parametrize("seed", range(3))
def test_the_float_hint_changes_no_answer(seed, monkeypatch):
    """From 14 features on a float solver proposes the multipliers; the answer is proved all the same."""
    training_set = made_sets.gaussian(seed, n_features=16)
    cells = list(random_cells(training_set, np.random.default_rng(8), 2))
    hinted = [probe_cell(training_set, *cell) for cell in cells]
    monkeypatch.setattr(optimality, "_HINT_FROM", 1000)
    for cell, test in zip(cells, hinted, strict=True):
        assert_proof(training_set, *cell, test, closed=False)
        assert probe_cell(training_set, *cell).holds == test.holds


def relative_error(training_set, weights, expected):
    """In conditioned units, in which weights of different features can be compared."""
    units = np.ldexp(1.0, training_set.conditioning.exponent)
    expected = np.array([float(w) for w in expected]) * units
    return np.abs(weights * units - expected).max() / np.abs(expected).max()


def assert_svm_of_its_rescaling(training_set, weights, intercept, **options):
    """Return the rescaling after training at it."""
    rescaling = rescaling_of(training_set, weights, intercept, **options)
    assert np.isfinite(rescaling.factors).all()
    assert (rescaling.factors > 0).all()
    again = minimal_norm_svm(training_set, rescaling.factors)
    assert relative_error(training_set, again.weights, weights) < 1e-7
    # the multipliers prove it: w = τ² Σ a_i y_i x_i (differences of rows, as the multipliers balance)
    signed = rescaling.multipliers * training_set.signs
    moved = training_set.features - training_set.features[0]
    proved = rescaling.factors**2 * (signed @ moved)
    assert relative_error(training_set, proved, weights) < 1e-6
    assert rescaling.multipliers.min() >= 0
    return rescaling


def disagreements_with_a_plain_svc(training_set, points, factors, weights, intercept):
    """How many points scikit-learn's SVC labels otherwise after training on x * τ, and how many are too near to say."""
    # A common factor changes nothing; this one makes the SVC's weights about 1, so that C is far beyond any multiplier.
    size = np.linalg.norm(np.array([float(w) for w in weights]) / factors)
    # Nor does a translation; this one is for libsvm's kernel, which is in single precision.
    centre = training_set.features.mean(axis=0)
    rows = (training_set.features - centre) * factors * size
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it must converge
        svc = SVC(kernel="linear", C=1e10, tol=1e-8, max_iter=3_000_000).fit(rows, training_set.signs)
    values = np.array(
        [float(pair_form.dot(weights, [Fraction(x) for x in point]) + Fraction(intercept)) for point in points.tolist()]
    )
    clear = np.abs(values) > 1e-6
    wrong = svc.predict((points - centre) * factors * size) != np.where(values >= 0, 1, -1)
    return int((wrong & clear).sum()), int((~clear).sum())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_plain_svm_at_the_rescaling_gives_the_same_labels_on_raw_data(name):
    rng = np.random.default_rng(9)
    undecided = 0
    for seed in (4, 5):  # some draws of fertility separate so barely that libsvm does not converge
        training_set, points = made_sets.drawn_from(name, seed)
        for tau in (None, made_sets.random_rescaling(rng, training_set.n_features, 1)):
            svm = minimal_norm_svm(training_set, tau)
            assert_svm_of_its_rescaling(training_set, svm.weights, svm.intercept)
            assert_svm_of_its_rescaling(training_set, svm.weights, None)
            exact = exact_svm_at(training_set, np.ones(training_set.n_features) if tau is None else tau)
            factors = assert_svm_of_its_rescaling(training_set, exact.weights, exact.intercept, tolerance=0).factors
            wrong, near = disagreements_with_a_plain_svc(training_set, points, factors, exact.weights, exact.intercept)
            assert wrong == 0
            undecided += near
    assert undecided < 10


@pytest.mark.parametrize("maker", made_sets.MAKERS.values(), ids=made_sets.MAKERS.keys())
def test_the_rescaling_is_right_on_made_sets(maker):
    rng = np.random.default_rng(10)
    for seed in range(7):
        training_set = maker(seed)
        svm = minimal_norm_svm(training_set, made_sets.random_rescaling(rng, training_set.n_features, 2))
        assert is_rescale_optimal(training_set, svm.weights, svm.intercept)
        assert_svm_of_its_rescaling(training_set, svm.weights, svm.intercept)
        exact = exact_svm_at(training_set, svm.rescaling)
        assert_svm_of_its_rescaling(training_set, exact.weights, exact.intercept, tolerance=0)


@pytest.mark.parametrize("maker", [made_sets.integer_ties, made_sets.duplicated_rows, made_sets.one_positive])
def test_a_plain_svm_at_the_rescaling_gives_the_same_labels_on_made_sets(maker):
    rng = np.random.default_rng(11)
    for seed in range(4):
        training_set = maker(seed)
        exact = exact_svm_at(training_set, made_sets.random_rescaling(rng, training_set.n_features, 0.5))
        factors = rescaling_of(training_set, exact.weights, exact.intercept, tolerance=0).factors
        points = rng.uniform(-1, 6, (300, training_set.n_features))
        wrong, near = disagreements_with_a_plain_svc(training_set, points, factors, exact.weights, exact.intercept)
        assert wrong == 0
        assert near < 5


@pytest.mark.parametrize("name", SHIPPED)
def test_offsets_change_no_answer(name):
    """An exact translation far from 0 once made every row with a margin below 2 count as tight."""
    training_set, _ = made_sets.drawn_from(name, 3)
    whole = TrainingSet(np.round(training_set.features * 16), training_set.signs)
    if not is_separable(whole):
        whole = separable_subset(whole).training_set
    far = TrainingSet(whole.features + 2.0**34, whole.signs)
    svm = minimal_norm_svm(far)
    assert is_rescale_optimal(far, svm.weights, svm.intercept)
    near_factors = rescaling_of(whole, svm.weights).factors
    assert np.array_equal(rescaling_of(far, svm.weights).factors, near_factors)
    assert np.allclose(rescaling_of(far, svm.weights, svm.intercept).factors, near_factors, rtol=1e-9)
    assert_svm_of_its_rescaling(far, svm.weights, svm.intercept)
    lengthened = 1.001 * svm.weights
    assert not is_rescale_optimal(far, lengthened)
    assert not in_closure(far, lengthened)


@pytest.mark.parametrize("share", [Fraction(1, 2**20), Fraction(1, 10**12), Fraction(1, 10**30), Fraction(1, 10**400)])
def test_a_tiny_weight_is_not_zero(share):
    """X+ = {(1,1)}, X- = {(-1,-1)}: (1-s, s) is in RO(X) for 0 < s < 1, with τ2/τ1 = sqrt(s/(1-s))."""
    weights = [1 - share, share]
    for tolerance in (0, 1e-9):
        assert is_rescale_optimal(TWO_POINTS, weights, 0, tolerance=tolerance)
        assert not is_rescale_optimal(TWO_POINTS, [1 + share, -share], 0, tolerance=tolerance)
        factors = rescaling_of(TWO_POINTS, weights, 0, tolerance=tolerance).factors
        assert factors[1] / factors[0] == pytest.approx(
            10 ** (0.5 * (np.log10(float(share.numerator)) - len(str(share.denominator)) + 1))
            if share.denominator > 10**13
            else float(share / (1 - share)) ** 0.5,
            rel=1e-9,
        )
    assert not in_closure(TWO_POINTS, [1 + share, -share], 0, tolerance=0)


def test_rounding_error_may_stand_for_zero():
    """Where μ_2 must be 0, the SVM has w_2 = 0; a float solver may leave 1e-17 of either sign there."""
    square = TrainingSet([[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, 1, -1, -1])
    for noise in (0.0, 1e-17, -1e-17):
        assert is_rescale_optimal(square, [1, noise], 0)
        factors = rescaling_of(square, [1, noise], 0).factors
        assert relative_error(square, minimal_norm_svm(square, factors).weights, [1, 0]) < 1e-9
    constant = TrainingSet([[1, 7], [-1, 7]], [1, -1])
    assert is_rescale_optimal(constant, [1, 0], 0, tolerance=0)
    assert not is_rescale_optimal(constant, [1, Fraction(1, 10**9)], -Fraction(7, 10**9), tolerance=0)
    assert not in_closure(constant, [1, Fraction(1, 10**9)], -Fraction(7, 10**9), tolerance=0)


def test_what_is_no_svm_has_no_rescaling():
    for weights, intercept in (([3, 3], None), ([1, 1], None), ([2, 2], -4), ([2, 2], -6), ([0, 0], 0)):
        with pytest.raises(InputError, match="not the SVM of any rescaling"):
            rescaling_of(EXAMPLE_1, weights, intercept)
    assert_svm_of_its_rescaling(EXAMPLE_1, [2, 2], -5)
    with pytest.raises(InputError, match="3 weights were given for 2 features"):
        rescaling_of(EXAMPLE_1, [1, 2, 3])


@pytest.mark.parametrize("ask", [is_rescale_optimal, in_closure, rescaling_of])
def test_what_is_no_finite_number_is_an_input_error(ask):
    for weights, intercept, tolerance in (
        ([2, float("nan")], -5, 0),
        ([2, 2], float("nan"), 0),
        ([2, 2], "five", 0),
        ([2, 2], -5, float("inf")),
    ):
        with pytest.raises(InputError, match="a finite number is needed"):
            ask(EXAMPLE_1, weights, intercept, tolerance=tolerance)
    ask(EXAMPLE_1, np.array([2, 2], dtype=np.float32), np.float32(-5), tolerance=0)


def evenness(training_set, weights, factors):
    """The least d_j = 1/τ_j² against their mean, weighted by w_j², in conditioned units: 1 where all are equal."""
    units = np.ldexp(1.0, training_set.conditioning.exponent)
    reach = np.array([float(w) for w in weights]) * units
    inverse_squared = (factors * units) ** -2.0
    return inverse_squared[reach != 0].min() * (reach**2).sum() / (reach**2 @ inverse_squared)


def test_of_many_rescalings_an_even_one_is_taken():
    rng = np.random.default_rng(12)
    for seed in range(12):
        training_set = made_sets.integer_ties(seed)
        for decades in (0, 1):
            svm = exact_svm_at(training_set, made_sets.random_rescaling(rng, training_set.n_features, decades))
            found = rescaling_of(training_set, svm.weights, svm.intercept, tolerance=0).factors
            least = evenness(training_set, svm.weights, svm.rescaling)
            assert evenness(training_set, svm.weights, found) > 0.97 * least
