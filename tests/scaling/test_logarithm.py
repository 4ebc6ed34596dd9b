"""The logarithm of positive features: which they are, and what becomes of later values that have none."""

import math

import numpy as np
import pytest

from rescaleinv.errors import InputError
from rescaleinv.scaling import PositiveLogarithm


def test_only_features_that_were_positive_in_training_are_transformed():
    transformer = PositiveLogarithm().fit([[1.0, 0.0, -2.0], [10.0, 5.0, 3.0]])
    assert transformer.least_.tolist() == [1.0, 0.0, -2.0]
    assert transformer.transform([[4.0, 7.0, -9.0]]).tolist() == [[math.log(4.0), 7.0, -9.0]]


def test_later_values_without_a_logarithm_are_treated_as_the_smallest_training_value():
    transformer = PositiveLogarithm().fit([[2.0], [10.0]])
    found = transformer.transform([[0.0], [-5.0], [1.0]])
    np.testing.assert_array_equal(found.ravel(), np.log([2.0, 2.0, 1.0]))


def test_missing_values_are_an_error():
    with pytest.raises(InputError):
        PositiveLogarithm().fit([[1.0], [np.nan]])
