"""Certificates about numbers as they were written: what the floats that were given stand for is part of the question."""

import copy
import hashlib
import json
from fractions import Fraction

import certificate_corpus
import pytest
import second_checker

from rescaleinv.verify import Refused, check, main

GIVEN = [0.0, 0.2, 0.2]


def as_read(content, j, origin="0", unit="1/10", rounding="1/10000000000000000", given=GIVEN, given_value=0.2):
    """The same certificate, feature j of which was given as floats: tenths, if nothing else is said."""
    content = copy.deepcopy(content)
    n = len(content["point"])
    entry = {"origin": origin, "unit": unit, "rounding": rounding, "given": [str(Fraction(value)) for value in given]}
    content["training"]["reading"] = [entry if k == j else None for k in range(n)]
    content["given_point"] = [str(Fraction(given_value)) if k == j else x for k, x in enumerate(content["point"])]
    return content


NEUTRAL = certificate_corpus.row_at_the_origin()  # values 0 and 2 in feature 0, and the point has 2


def proved(content, training=None):
    """What both checkers say; they must agree."""
    text = certificate_corpus.as_text(content)
    again = second_checker.proves(text, training)
    try:
        claim = check(text, training)
    except Refused:
        assert again is None
        raise
    assert again == claim
    return claim


def test_floats_that_stand_for_tenths():
    claim = proved(as_read(NEUTRAL, 0))
    assert claim == "neutral"
    assert claim.question.point == (Fraction(0.2), 0, 7)  # as it was given
    assert claim.question.reading[0] == (0, Fraction(1, 10), Fraction(1, 10**16))
    assert str(claim.question).endswith("hard margin, numbers as written")
    assert check(certificate_corpus.as_text(NEUTRAL)).question.reading is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": "0"}, "unit is not positive"),
        ({"unit": "-1/10"}, "unit is not positive"),
        ({"rounding": "-1"}, "more than rounding can be"),
        ({"rounding": "1/1000"}, "more than rounding can be"),
        ({"rounding": "0"}, "row 1 differs from the number given by more than the rounding"),
        ({"given": [0.0, 0.2, 0.3]}, "row 2 differs from the number given by more than the rounding"),
        ({"given": [0.0, 0.2]}, "given: 3 numbers are needed"),
        ({"origin": "1"}, "row 0 differs from the number given"),
        ({"given_value": 0.3}, r"given_point\[0\] differs from the point by more than the rounding"),
        ({"given_value": 2.0}, r"given_point\[0\] differs from the point by more than the rounding"),
    ],
)
def test_a_reading_that_is_more_than_rounding(changes, message):
    with pytest.raises(Refused, match=message):
        proved(as_read(NEUTRAL, 0, **changes))


def test_features_that_were_not_read_are_as_given():
    content = as_read(NEUTRAL, 0)
    content["given_point"][2] = "8"
    with pytest.raises(Refused, match=r"given_point\[2\] is not the point's"):
        proved(content)


def test_the_point_and_the_rows_are_read_together_or_not_at_all():
    content = as_read(NEUTRAL, 0)
    del content["given_point"]
    with pytest.raises(Refused, match="given_point is missing"):
        proved(content)
    content = as_read(NEUTRAL, 0)
    del content["training"]["reading"]
    with pytest.raises(Refused, match="the training rows have no reading"):
        proved(content)
    for reading in ({}, [], [None, None], [None, None, 1], [None, None, {}]):
        content = as_read(NEUTRAL, 0)
        content["training"]["reading"] = reading
        with pytest.raises(Refused, match=r"training\.reading"):
            proved(content)


def test_factors_of_a_range_are_of_the_units_that_were_given():
    """In tenths, "factors from 1/4 to 4" would mean other rescalings than the reader thinks."""
    record = certificate_corpus.stored()["certificates"]["hard cover strongly positive within the range"]
    content = record["content"]
    rows = [Fraction(row[0]) for row in content["training"]["rows"]]
    value = Fraction(content["point"][0])
    same = as_read(content, 0, unit="1", rounding="0", given=rows, given_value=value)
    assert proved(same) == content["claim"]
    thousands = as_read(content, 0, unit="1000", rounding="0", given=[1000 * x for x in rows], given_value=1000 * value)
    with pytest.raises(Refused, match="factors of a range are of given units"):
        proved(thousands)


def test_rows_that_are_given_must_have_been_read_alike(tmp_path, capsys):
    """Equal rows with another reading are other data: the liar's point is not the reader's."""
    content = as_read(NEUTRAL, 0)
    mine = json.dumps(content["training"])
    assert proved(content, mine) == "neutral"
    hundreds = as_read(NEUTRAL, 0, unit="100", rounding="0", given=[0, 200, 200], given_value=200)
    assert proved(hundreds) == "neutral"  # true of its own data
    for lie in (hundreds, NEUTRAL):
        assert lie["training"]["sha256"] == content["training"]["sha256"]
        with pytest.raises(Refused, match=r"training\.reading is not that of the rows that were given"):
            proved(lie, mine)
    with pytest.raises(Refused, match=r"training\.reading is not that of the rows that were given"):
        proved(content, json.dumps(NEUTRAL["training"]))
    # a table covered by certificates of both
    (tmp_path / "both").write_text("\n".join(map(certificate_corpus.as_text, (content, hundreds))))
    (tmp_path / "points.csv").write_text("a,b,c\n0.2,0,7\n200,0,7\n")
    (tmp_path / "verdicts.csv").write_text("code\n0\n0\n")
    tables = ["--points", str(tmp_path / "points.csv"), "--verdicts", str(tmp_path / "verdicts.csv")]
    assert main([str(tmp_path / "both"), *tables]) == 1
    assert "the certificates answer 2 different questions" in capsys.readouterr().out
    (tmp_path / "rows.json").write_text(mine)
    assert main([str(tmp_path / "both"), *tables, "--training", str(tmp_path / "rows.json")]) == 1
    assert "training.reading is not that of the rows that were given" in capsys.readouterr().out


def test_a_complex_of_rows_that_were_read(tmp_path, capsys):
    """The complex brings rows with a reading; a certificate without rows is about points in the units that were given."""
    stored = certificate_corpus.stored()
    content = copy.deepcopy(stored["certificates"]["tie complex strongly positive"]["content"])
    header, *lines = stored["complexes"]["tie"].splitlines(keepends=True)
    header = json.loads(header)
    read = as_read(
        content, 0, rounding="1/10000000000000000", given=[0.1, -0.1], given_value=Fraction(content["point"][0]) / 10
    )
    header["training"] = read["training"]
    data = json.dumps(header, separators=(",", ":")) + "\n" + "".join(lines)
    (tmp_path / "complex").write_text(data)

    read["evidence"]["sha256"] = hashlib.sha256(data.encode()).hexdigest()
    read["training"] = {key: read["training"][key] for key in ("sha256", "left_out")}
    (tmp_path / "one").write_text(certificate_corpus.as_text(read))
    files = [str(tmp_path / "complex"), str(tmp_path / "one")]
    assert main(files) == 0
    assert "numbers as written" in capsys.readouterr().out
    (tmp_path / "rows").write_text(json.dumps({**header["training"]}))
    assert main([*files, "--training", str(tmp_path / "rows")]) == 0
    (tmp_path / "rows").write_text(json.dumps(content["training"]))
    assert main([*files, "--training", str(tmp_path / "rows")]) == 1
    assert "training.reading is not that of the rows that were given" in capsys.readouterr().out
    del read["given_point"]
    (tmp_path / "one").write_text(certificate_corpus.as_text(read))
    assert main(files) == 1
