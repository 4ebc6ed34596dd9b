"""What is known of units: fixed features, ranges by name, groups."""

from argparse import Namespace
from types import SimpleNamespace

import pytest

from rescaleinv.cli.ranges import fixed_features, groups_of, scale_range_of, without_units
from rescaleinv.errors import InputError

TABLES = SimpleNamespace(
    names=["age", "glucose", "smokes", "town=Bern", "town=Oslo"], without_units=["smokes", "town=Bern", "town=Oslo"]
)


def given(**changed):
    return Namespace(
        train="train.csv", **{"scale_range": None, "kappa": 4.0, "fixed": [], "range": [], "group": [], **changed}
    )


def test_every_rescaling_is_the_default():
    assert scale_range_of(given(), TABLES) is None


def test_others_change_by_the_factor_in_question(capsys):
    found = scale_range_of(given(range=["glucose=18", "smokes=2"]), TABLES)
    assert found == {"age": 4.0, "glucose": 18, "smokes": 2, "town=Bern": (1, 1), "town=Oslo": (1, 1)}
    assert "neither fixed nor given a range change by factors up to 4 " in capsys.readouterr().out


def test_what_has_no_unit_rests_in_a_limited_range_unless_asked_for(capsys):
    found = scale_range_of(given(scale_range="4", range=["smokes=2", "glucose=0.5:18"]), TABLES)
    assert found == {"age": 4, "glucose": (0.5, 18), "smokes": 2, "town=Bern": (1, 1), "town=Oslo": (1, 1)}
    assert "note: town=Bern, town=Oslo: columns with two values have no unit" in capsys.readouterr().out


def test_a_column_of_categories_is_fixed_as_a_whole():
    assert fixed_features(given(fixed=["age,town"]), TABLES) == ["age", "town=Bern", "town=Oslo"]


def test_groups_are_named_by_their_features():
    assert groups_of(given(), TABLES) is None
    assert groups_of(given(group=["age,glucose"]), TABLES) == {"age": "age,glucose", "glucose": "age,glucose"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"range": ["glucose"]}, r"^--range glucose: a column and a factor are needed"),
        ({"range": ["glucose=many"]}, r"'many' is not a number \(18\), a pair .* or 'free' \(any factor\)"),
        ({"range": ["glukose=2"]}, r"^--range glukose: train\.csv has no such column; did you mean glucose\?"),
        ({"range": ["glucose=2", "age=2", "glucose=3"]}, r"^--range glucose=3: glucose has a range already"),
        ({"range": ["glucose=2"], "fixed": ["age,glucose"]}, r"^--fixed and --range: glucose is either not rescaled"),
        ({"fixed": ["tal"]}, r"^--fixed tal: train\.csv has no such column"),
        ({"scale_range": "[[1, 1], [1, 2]]", "fixed": ["age"]}, r"one pair per feature says it all"),
        ({"scale_range": "two"}, r"^--scale-range two: a number \(2\)"),
    ],
)
def test_what_can_not_be_meant(options, message):
    with pytest.raises(InputError, match=message):
        scale_range_of(given(**options), TABLES)


def test_what_has_no_unit_shares_the_factor_of_its_group():
    assert without_units(given(), TABLES) == ["smokes", "town=Bern", "town=Oslo"]
    assert without_units(given(group=["town=Bern,town=Oslo"]), TABLES) == ["smokes", "town=Bern", "town=Oslo"]
    assert without_units(given(group=["age,smokes"]), TABLES) == ["town=Bern", "town=Oslo"]
    assert scale_range_of(given(scale_range="4", group=["age,smokes"]), TABLES)["smokes"] == 4


def test_a_feature_is_in_one_group():
    with pytest.raises(InputError, match="age is in another group already"):
        groups_of(given(group=["age,glucose", "age,smokes"]), TABLES)


def test_features_may_be_freed():
    found = scale_range_of(given(scale_range="4", range=["smokes=free", "glucose=1:inf"]), TABLES)
    assert (found["smokes"], found["glucose"], found["age"]) == ((0.0, float("inf")), (1.0, float("inf")), 4)
