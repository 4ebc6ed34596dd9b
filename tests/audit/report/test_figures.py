"""The pictures of the page: one for each thing that there is to show, the same bytes each time, and no live markup."""

import dataclasses
import re
from xml.etree import ElementTree

import pandas as pd
import pytest

from rescaleinv import diagnose, scaling_audit
from rescaleinv.audit.report.figures import figures
from rescaleinv.datasets import load

EVIL = "<script>alert(1)</script>$x_{"
ROWS = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]]
CAPTIONS = ["What all rescalings together can do", "What single features do", "What the usual scalings do"]


@pytest.fixture(scope="module")
def audit():
    table = pd.DataFrame([*ROWS, [-1, 4], [4, 4], [0, 0]], columns=[EVIL, "y"])
    return scaling_audit(
        table[:4], [1, 1, 1, -1], table[4:], [1, 1, -1], class_names=(EVIL, "up"), scalings={}, most_radii=3
    )


def drawing(picture):
    assert picture.drawing.startswith("<svg ")
    return picture.drawing.encode()


def test_all_there_is_to_show(audit):
    found = figures(audit)
    assert [picture.caption for picture in found] == ["How wrong the units may be", *CAPTIONS, "What silence buys"]
    assert all(picture.reading.endswith(".") for picture in found)


def test_no_picture_of_what_is_not_known(audit):
    less = dataclasses.replace(audit, limited=None, report=None)
    assert [picture.caption for picture in figures(less)] == CAPTIONS
    one_known = audit.truth.copy()
    one_known[1:] = None
    assert len(figures(dataclasses.replace(audit, limited=None, truth=one_known))) == 3  # a single point is no curve


def test_causes_where_labels_of_ordinary_svms_change(audit):
    X, y, _ = load("urine")
    with_causes = dataclasses.replace(audit, diagnosis=diagnose(None, X[::2], y[::2], X[1::2]))
    assert "Why labels of ordinary SVMs change" in [picture.caption for picture in figures(with_causes)]
    far_apart = diagnose(None, ROWS, [1, 1, 1, -1], [[100, 100], [-100, -100]])
    assert not any(pair.n_changed for pair in far_apart.pairs)
    assert len(figures(dataclasses.replace(audit, diagnosis=far_apart))) == len(figures(audit))


def test_names_in_the_data_are_no_elements(audit):
    names = [name for picture in figures(audit) for name in re.findall(r'\bid="([^"]+)"', picture.drawing)]
    assert len(names) == len(set(names))  # in one page together
    for picture in figures(audit):
        assert 'role="img"' in picture.drawing
        tree = ElementTree.fromstring(drawing(picture))  # well-formed
        assert tree.tag == "{http://www.w3.org/2000/svg}svg"
        assert not [element for element in tree.iter() if "script" in str(element.tag)]
        links = [value for element in tree.iter() for name, value in element.attrib.items() if name.endswith("href")]
        assert all(link.startswith(("#", "data:")) for link in links)


def test_the_same_audit_is_the_same_bytes(audit):
    assert figures(audit) == figures(audit)
    assert b"dc:date" not in b"".join(drawing(picture) for picture in figures(audit))


def test_more_features_make_a_higher_picture():
    def height(n_features):
        rows = [[*row, *([0.0] * (n_features - 2))] for row in ROWS]
        audit = scaling_audit(rows, [1, 1, 1, -1], [[-1, 4] + [0] * (n_features - 2)], scalings={}, most_radii=0)
        return float(ElementTree.fromstring(drawing(figures(audit)[1])).attrib["viewBox"].split()[3])

    assert height(2) < height(6)
