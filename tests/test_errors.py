"""The errors and warnings: their texts are one line, and they are what callers expect."""

import pickle

import pytest

from rescaleinv import errors
from rescaleinv.errors import (
    LeftOutWarning,
)


def test_a_warning_names_twenty_rows_at_most():
    text = str(LeftOutWarning(list(range(50)), 100))
    assert "19, …" in text
    assert "20" not in text
    again = pickle.loads(pickle.dumps(LeftOutWarning([3], 9)))
    assert (again.rows, again.n_rows, str(again)) == ([3], 9, str(LeftOutWarning([3], 9)))


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.InputError, ValueError),
        (errors.InputTypeError, TypeError),
        (errors.InputTypeError, errors.InputError),
        (errors.InseparableError, ValueError),
        (errors.DatasetUnavailableError, LookupError),
        (errors.SolverError, RuntimeError),
        (errors.MissingSolverError, ImportError),
        (errors.MissingSolverError, errors.SolverError),
        (errors.CertificateError, ValueError),
        (errors.BatchError, RuntimeError),
        (errors.NotAvailableError, NotImplementedError),
    ],
)
def test_each_error_is_the_built_in_that_a_caller_expects(kind, builtin):
    with pytest.raises(builtin) as caught:
        raise kind("what was wrong")
    assert isinstance(caught.value, errors.RescaleInvError)
    assert str(caught.value) == "what was wrong"


def test_every_error_has_the_common_base():
    kinds = [value for value in vars(errors).values() if isinstance(value, type) and not issubclass(value, Warning)]
    assert len(kinds) > 9
    assert all(issubclass(kind, errors.RescaleInvError) for kind in kinds)


@pytest.mark.parametrize("kind", [errors.InputError, errors.MissingSolverError, errors.DatasetUnavailableError])
def test_a_text_is_one_line_whatever_value_is_shown_in_it(kind):
    error = kind("the name is 'a\nb\r\n  c\t'; a text\u2028is needed")
    assert str(error) == "the name is 'a b c '; a text is needed"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_exactly_twenty_rows_are_all_shown():
    rows = list(range(5, 25))
    assert f"rows {', '.join(map(str, rows))};" in str(LeftOutWarning(rows, 40))
    assert "20 of 40 training rows" in str(LeftOutWarning(rows, 40))


def test_a_refusal_names_the_first_point_and_counts_the_others():
    one = errors.RefusedWarning({4: "it is refused"})
    assert str(one).startswith("point 4: it is refused; its verdict is now UNKNOWN")
    three = errors.RefusedWarning({4: "it is refused", 7: "x", 9: "y"})
    assert str(three).startswith("point 4 (and 2 more): it is refused")
    again = pickle.loads(pickle.dumps(three))
    assert (again.points, str(again)) == (three.points, str(three))
