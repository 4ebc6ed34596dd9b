"""Arguments of the wrong kind are errors of ours that say what is needed, and no surprises from inside."""

import pytest

from rescaleinv import (
    Certificate,
    CertificateError,
    ComplexEngine,
    InputError,
    MilpEngine,
    TrainingSet,
    check_invariance,
    in_closure,
    is_rescale_optimal,
    is_separable,
    minimal_norm_svm,
    rescaling_of,
    separable_subset,
)

EXAMPLE = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


@pytest.mark.parametrize(
    "function",
    [is_separable, separable_subset, check_invariance, minimal_norm_svm, ComplexEngine, MilpEngine],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize("given", [5, None, [[1, 2]]], ids=repr)
def test_a_training_set_is_needed(function, given):
    with pytest.raises(InputError, match=f"a TrainingSet is needed, {type(given).__name__} was given"):
        function(given)


@pytest.mark.parametrize("function", [is_rescale_optimal, in_closure, rescaling_of], ids=lambda f: f.__name__)
def test_weights_are_needed(function):
    with pytest.raises(InputError, match="the weights are 5; one for each of 2 features is needed"):
        function(EXAMPLE, 5)
    with pytest.raises(InputError, match="a TrainingSet is needed"):
        function([[1, 2]], [1, 2])


def test_names_that_are_no_names():
    with pytest.raises(InputError, match="the rule"):
        separable_subset(EXAMPLE, rule=["greedy"])
    with pytest.raises(InputError, match="the solver"):
        MilpEngine(EXAMPLE, solver=["highs"])


def test_rows_that_are_not_there():
    with pytest.raises(InputError, match="not rows of a training set of 4 rows"):
        EXAMPLE.subset([0, 99])
    with pytest.raises(InputError, match="not rows of a training set of 4 rows"):
        EXAMPLE.subset([True, False])


def test_a_certificate_is_read_from_text():
    with pytest.raises(CertificateError, match="int was given"):
        Certificate.from_json(5)


def test_factors_beyond_all_floats():
    with pytest.raises(InputError, match="beyond what a float can hold"):
        minimal_norm_svm(EXAMPLE, [1e-300, 1e100])
