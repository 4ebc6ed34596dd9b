"""The figures that the paper prints in its Tables 1 to 4, as data.

As printed, with two printing mistakes corrected: the two PPV of benchmark 8 are interchanged (4 of 11 is
36 %, 3 of 7 is 43 %); and Table 4 repeats FP and TP of benchmark 12 from Table 3 (3, 4), where 9 points that are not
neutral and an NPV of 100 % leave room for 0, 2 only. No other figure of a benchmark was changed; what else does not fit is
in ``ODDITIES``.
"""

from __future__ import annotations

from dataclasses import dataclass

ODDITIES = (
    "Benchmark 8: the PPVs of SVM and rescaling method are exchanged in Table 3 (4 of 11 is 36 %, 3 of 7 is 43 %).",
    "Benchmark 12: Table 4 repeats FP and TP of Table 3 (3, 4) where FN and TN of the rescaling method should be; 9 points "
    "that are not neutral and an NPV of 100 % leave 0, 2.",
    "Benchmark 14: no two numbers of rows have the sum 20 and the product 81; and its 20 training rows and 81 test rows "
    "are 101 of the 100 rows of Fertility.",
    "Benchmark 1: its 683 test rows are all rows of Breast Cancer Wisconsin, training rows included.",
)


@dataclass(frozen=True)
class PrintedFigures:
    """FP, TP, PPV (per cent), FN, TN, NPV (per cent) of one method; None is printed as "-"."""

    fp: int
    tp: int
    ppv: int | None
    fn: int
    tn: int
    npv: int | None


@dataclass(frozen=True)
class PaperBenchmark:
    """One line of the paper's four tables."""

    number: int
    data_set: str
    rows: int
    pairs: int
    svm: PrintedFigures
    strong: PrintedFigures
    neutral: int
    points: int
    neutral_percent: int

    @property
    def class_rows(self) -> tuple[int, int] | None:
        """How many rows the smaller and the larger class have: their sum and product are printed. None if nothing fits."""
        fitting = (small for small in range(1, self.rows // 2 + 1) if small * (self.rows - small) == self.pairs)
        small = next(fitting, None)
        return None if small is None else (small, self.rows - small)


# |X|, |I(X)|; the six figures of the SVM; the six of the strong verdicts; neutral points, test points, per cent
_LINES = {
    "breast_cancer_wisconsin": (
        ((16, 63), (15, 439, 97, 10, 219, 96), (0, 333, 100, 3, 86, 97), (261, 683, 38)),
        ((20, 84), (3, 71, 96, 1, 25, 96), (0, 46, 100, 0, 1, 100), (53, 100, 53)),
        ((25, 126), (9, 64, 88, 0, 27, 100), (0, 47, 100, 0, 0, None), (53, 100, 53)),
    ),
    "pima_diabetes": (
        ((22, 72), (25, 48, 66, 22, 105, 83), (1, 1, 50, 0, 12, 100), (186, 200, 93)),
        ((28, 171), (38, 53, 58, 14, 95, 87), (1, 2, 67, 0, 29, 100), (168, 200, 84)),
        ((18, 65), (8, 15, 65, 21, 56, 73), (0, 0, None, 0, 9, 100), (91, 100, 91)),
    ),
    "blood_transfusion": (
        ((20, 64), (25, 6, 19, 17, 52, 75), (5, 4, 44, 11, 45, 80), (35, 100, 35)),
        ((25, 46), (7, 4, 36, 18, 71, 80), (4, 3, 43, 18, 69, 79), (6, 100, 6)),
        ((25, 144), (27, 9, 25, 9, 55, 86), (25, 8, 24, 8, 50, 86), (9, 100, 9)),
    ),
    "indian_liver_patient": (
        ((25, 84), (15, 13, 46, 19, 53, 74), (0, 2, 100, 9, 17, 65), (72, 100, 72)),
        ((15, 36), (35, 15, 30, 13, 37, 74), (1, 0, 0, 2, 4, 67), (93, 100, 93)),
        ((21, 108), (44, 23, 34, 27, 106, 80), (3, 4, 57, 0, 2, 100), (191, 200, 95)),
    ),
    "fertility": (
        ((30, 104), (15, 2, 12, 6, 47, 89), (1, 0, 0, 1, 22, 96), (46, 70, 66)),
        ((20, 81), (19, 1, 5, 6, 55, 90), (3, 1, 25, 1, 20, 95), (56, 81, 69)),
        ((15, 14), (11, 3, 21, 8, 63, 89), (0, 0, None, 0, 6, 100), (79, 85, 93)),
    ),
    "banknote": (
        ((25, 156), (3, 45, 94, 2, 50, 96), (3, 38, 93, 0, 45, 100), (14, 100, 14)),
        ((20, 100), (1, 42, 98, 1, 56, 98), (1, 38, 97, 0, 49, 100), (12, 100, 12)),
        ((15, 50), (3, 44, 94, 2, 51, 96), (0, 32, 100, 0, 38, 100), (30, 100, 30)),
    ),
}

BENCHMARKS: tuple[PaperBenchmark, ...] = tuple(
    PaperBenchmark(number, name, *table1, PrintedFigures(*svm), PrintedFigures(*strong), *table2)
    for number, (name, (table1, svm, strong, table2)) in enumerate(
        ((name, line) for name, lines in _LINES.items() for line in lines), 1
    )
)

# The last lines of Tables 2 to 4, per cent. The two of NPV and the SVM's PPV do not follow from the columns above them, as
# corrected or as printed, and the strong PPV only from the column as printed: what follows is ``column_averages``.
PRINTED_AVERAGES = {
    "neutral share": 55.9,
    "SVM PPV": 56.56,
    "strong PPV": 62.06,
    "SVM NPV": 86.00,
    "strong NPV": 91.47,
}


def column_averages() -> dict[str, float]:
    """The means of the printed percentages, undefined ones left out, as the paper averages."""
    columns = {
        "neutral share": [one.neutral_percent for one in BENCHMARKS],
        "SVM PPV": [one.svm.ppv for one in BENCHMARKS],
        "strong PPV": [one.strong.ppv for one in BENCHMARKS],
        "SVM NPV": [one.svm.npv for one in BENCHMARKS],
        "strong NPV": [one.strong.npv for one in BENCHMARKS],
    }
    defined = {name: [value for value in values if value is not None] for name, values in columns.items()}
    return {name: sum(values) / len(values) for name, values in defined.items()}
