"""Figures and page of the reproduction of Ferreira & Figueiredo, from its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scalings.common import agreement_table, figure_file, markdown_table

# Table 1: mean ℓ0 of a feature, in all rows, in the negative and in the positive ones
PRINTED_L0 = {
    "Spam": (841.2, 411.8, 429.4),
    "Example1, train": (9.5, 4.5, 5.0),
    "Example1, test": (2.4, 1.1, 1.3),
    "Dexter, train": (1.4, 0.7, 0.7),
    "Dexter, validation": (1.4, 0.7, 0.7),
}
# Section 3.2, Figure 1: rows of Example1 with features 6 and 15, negative and positive
PRINTED_FEATURES = {6: (661, 998), 15: (183, 548)}
CLASSIFIERS = ("SVM", "AdaBoost")
# the matrix and the method
Way = tuple[str, str]
FIRST, SECOND, ENTROPY, FISHER = ("TD", "Method 1"), ("TD", "Method 2"), ("TD", "entropy"), ("TD", "Fisher")
PROJECTION = ("TD", "projection")
STYLES: dict[Way, dict[str, Any]] = {
    FIRST: {"color": "#0072b2", "marker": "o"},
    SECOND: {"color": "#d55e00", "marker": "s"},
    ENTROPY: {"color": "#999999", "marker": "x"},
    FISHER: {"color": "#000000", "marker": "^"},
    PROJECTION: {"color": "#cc79a7", "marker": "D"},
    ("TDI", "Method 1"): {"color": "#0072b2", "marker": "o", "ls": ":", "mfc": "white"},
    ("TDI", "Method 2"): {"color": "#d55e00", "marker": "s", "ls": ":", "mfc": "white"},
    ("TDI", "MIM"): {"color": "#009e73", "marker": "v", "ls": ":"},
    ("TDI", "CMIM"): {"color": "#56b4e9", "marker": "P", "ls": ":"},
}


def curve(one: dict[str, Any], classifier: str, way: Way) -> dict[int, float]:
    """Error in per cent by number of features."""
    wanted = (classifier, *way)
    rows = (row for row in one["errors"] if (row["classifier"], row["matrix"], row["method"]) == wanted)
    return {row["m"]: 100 * row["error"] for row in rows}


def without_selection(one: dict[str, Any], classifier: str, matrix: str) -> float:
    return next(iter(curve(one, classifier, (matrix, "all features")).values()))


def wide_table(one: dict[str, Any], classifier: str) -> list[dict[str, Any]]:
    """A row for each way, a column for each number of features."""
    numbers = sorted(curve(one, classifier, SECOND))
    table = []
    for way in STYLES:
        errors = curve(one, classifier, way)
        cells = {str(m): f"{errors[m]:.1f}" if m in errors else "" for m in numbers}
        table.append({"matrix": way[0], "method": way[1], **cells})
    return table


def draw(results: dict[str, Any], folder: Path) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    for name, one in results["sets"].items():
        with figure_file(folder / f"scalings_selection_{name.lower()}.png", (12, 5), columns=2) as axes:
            for axis, classifier in zip(axes, CLASSIFIERS, strict=True):
                for way, style in STYLES.items():
                    errors = curve(one, classifier, way)
                    axis.plot(errors.keys(), errors.values(), label=f"{way[1]}, {way[0]}", ms=5, **style)
                for matrix, dashes in (("TD", "--"), ("TDI", ":")):
                    whole = without_selection(one, classifier, matrix)
                    axis.axhline(whole, color="0.6", ls=dashes, lw=1.2, label=f"all features, {matrix}")
                axis.set_title(f"{name}, {classifier}")
                axis.set_xlabel("features kept")
                axis.set_ylabel("test error, %")
                axis.set_yscale("log")  # one way is far from the others
                axis.yaxis.set_major_locator(FixedLocator([3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40]))
                axis.yaxis.set_major_formatter("{x:.0f}")
                axis.yaxis.set_minor_locator(NullLocator())
                axis.grid(alpha=0.3)
            axes[-1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))


class Comparison:
    """Points of error by which one way is above another, in the mean over the numbers of features that both have."""

    def __init__(self, results: dict[str, Any]) -> None:
        self.sets = results["sets"]
        self.places = [(name, classifier) for name in self.sets for classifier in CLASSIFIERS]

    def gaps(self, name: str, classifier: str, one: Way, other: Way, above: int = 0) -> list[float]:
        first, second = (curve(self.sets[name], classifier, way) for way in (one, other))
        return [first[m] - second[m] for m in sorted(first.keys() & second.keys()) if m > above]

    def mean(self, name: str, classifier: str, one: Way, other: Way, above: int = 0) -> float:
        return float(np.mean(self.gaps(name, classifier, one, other, above)))

    def everywhere(self, one: Way, other: Way) -> list[float]:
        return [self.mean(*place, one, other) for place in self.places]

    def said(self, values: list[float]) -> str:
        named = zip(self.places, values, strict=True)
        return ", ".join(f"{name} {classifier} {value:+.1f}" for (name, classifier), value in named)


def claims(results: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """What the paper says, what was measured with the rule by which it agrees, and whether it does."""
    compare = Comparison(results)
    sets, l0 = results["sets"], results["l0"]
    found = []

    def claim(text: str, measured: str, holds: bool) -> None:
        found.append((text, measured, bool(holds)))

    close = [np.abs(np.subtract(l0[part], printed)).max() for part, printed in PRINTED_L0.items()]
    claim("Table 1: mean ℓ0 of a feature", f"differs by {max(close):.2f} at most; by 0.1 at most", max(close) <= 0.1)
    values = compare.everywhere(SECOND, FISHER)
    claim("Method 2 is near Fisher's ratio or better", f"{compare.said(values)}; at most +1", max(values) <= 1)
    for way in (SECOND, FIRST):
        values = compare.everywhere(way, PROJECTION)
        claim(f"{way[1]} is ahead of random projection", f"{compare.said(values)}; below 0", max(values) < 0)
    shares = [np.mean(np.less_equal(compare.gaps("Spam", c, SECOND, FIRST), 0)) for c in CLASSIFIERS]
    said = ", ".join(f"{share:.0%}" for share in shares)
    claim(
        "Spam: Method 2 is usually better than Method 1",
        f"not worse at {said} of the numbers of features (SVM, AdaBoost); above half",
        min(shares) > 0.5,
    )
    late = [compare.mean("Spam", c, FIRST, FISHER, above=30) for c in CLASSIFIERS]
    claim(
        "Spam, more than 30 features: Method 1 is about as good as Fisher's ratio",
        f"{', '.join(f'{value:+.1f}' for value in late)} (SVM, AdaBoost); within 1",
        max(map(abs, late)) <= 1,
    )
    value = compare.mean("Spam", "AdaBoost", PROJECTION, SECOND)
    claim("Spam: random projection does not suit AdaBoost", f"{value:+.1f} to Method 2; above +5", value > 5)
    values = [without_selection(sets[n], c, "TDI") - without_selection(sets[n], c, "TD") for n, c in compare.places]
    claim("presence (TDI) does about as well as values (TD)", f"{compare.said(values)}; at most +2", max(values) <= 2)
    whole, least = (
        without_selection(sets["Example1"], "AdaBoost", "TD"),
        min(curve(sets["Example1"], "AdaBoost", SECOND).values()),
    )
    claim(
        "Example1: selection does not lower AdaBoost's error",
        f"Method 2 at its best {least:.1f} %, all features {whole:.1f} %; lower by 0.5 at most",
        least >= whole - 0.5,
    )
    pairs = [(mine, other) for mine in ("Method 1", "Method 2") for other in ("MIM", "CMIM")]
    values = [compare.mean("Dexter", "SVM", ("TDI", mine), ("TDI", other)) for mine, other in pairs]
    said = ", ".join(f"{mine} to {other} {value:+.1f}" for (mine, other), value in zip(pairs, values, strict=True))
    claim(
        "Dexter, presence, SVM: both methods are about as good as MIM and CMIM", f"{said}; at most +1", max(values) <= 1
    )
    gains = {
        n: without_selection(one, "SVM", "TD") - min(curve(one, "SVM", SECOND).values()) for n, one in sets.items()
    }
    claim(
        "selection improves accuracy over all features",
        f"SVM, Method 2 at its best: {', '.join(f'{n} {-gain:+.1f}' for n, gain in gains.items())}; below 0",
        min(gains.values()) > 0,
    )
    values = compare.everywhere(ENTROPY, SECOND)
    claim("the entropy criterion is not better than Method 2", f"{compare.said(values)}; at least 0", min(values) >= 0)
    return found


WORDS = """\
**Agrees.** Counting is enough: Method 2 is level with Fisher's ratio on Spam and Example1, and both methods are ahead
of random projection in the mean on every set, far ahead on text. Method 1, which sees no labels, is as good once more
than 30 features of Spam are kept, and on Example1 throughout. Presence alone does about as well as values. Stumps
look at few features and find them after any selection, so that AdaBoost's error on text does not move; they fail on
projections. The entropy criterion, which the paper dropped, is worse by far: every word that one class alone has gets
its best value, and most of those are in one document.

**Does not agree.** On Dexter with its 200 training rows, Method 2 is about one point worse than Fisher's ratio, by a
hair more than the rule allows; the standard deviation over splits is as large. Selection hardly improves on all
features: Method 2 gains a tenth of a point on Spam, and on Example1 and Dexter a linear SVM with C = 1 does better
with everything, so that selection saves memory there, not errors. CMIM, of which the paper thinks little for text
like Dexter, makes the fewest errors with up to 30 features of Spam (SVM).

**In print.** Table 1 has the mean ℓ0 of Example1's two classes the wrong way round: feature 15 of section 3.2 has the
classes as the data have them. Feature 6 is in 898 positive documents, not 998. The probabilities of the random
projection are given for values of √3/m; the projection here has √(3/m), which keeps distances, and with a fixed C the
size counts.

**Not the same.** The solver and C of the paper's SVM are not named, its AdaBoost is the modest one, and it draws
other splits. Ten splits each, as there; the numbers of features are a sample of those in its figures. Nothing was
tuned."""


def _of_set(name: str, one: dict[str, Any]) -> str:
    lines = [
        f"## {name}",
        f"{one['splits']} splits of {one['rows']} training and {one['test rows']} test rows, {one['features']} features; "
        "error in per cent.",
    ]
    for classifier in CLASSIFIERS:
        whole = [f"{matrix} {without_selection(one, classifier, matrix):.1f}" for matrix in ("TD", "TDI")]
        lines += [f"### {classifier} (all features: {', '.join(whole)})", markdown_table(wide_table(one, classifier))]
    return "\n\n".join([*lines, f"![error by number of features, {name}](scalings_selection_{name.lower()}.png)"])


def page(results: dict[str, Any]) -> str:
    l0 = [
        {"part": part, "printed": ", ".join(map(str, printed)), "counted": ", ".join(map(str, results["l0"][part]))}
        for part, printed in PRINTED_L0.items()
    ]
    features = [
        {"feature": number, "printed": f"{a}, {b}", "counted": ", ".join(map(str, results["features"][str(number)]))}
        for number, (a, b) in PRINTED_FEATURES.items()
    ]
    tables = "\n\n".join(_of_set(name, one) for name, one in results["sets"].items())
    return f"""# Ferreira & Figueiredo, selection of features for text: the paper's claims measured again

Written by `python -m benchmarks.scalings.all --only selection`; the numbers, with standard deviations, are in
`scalings_selection.json`.

The paper prints its errors as curves only (Figures 2 to 4), so what it says of them stands beside the figures here.
Linear SVM: scikit-learn's SVC with C = 1 on the values as they are. AdaBoost: scikit-learn's, 15 stumps; the paper has
Modest AdaBoost, which is another algorithm. TD is the matrix of values, TDI that of presence. "projection" is
`SparseRandomProjection(density=1/3)`; on text, AdaBoost takes seconds per fit on it and has the smallest number only.

What is measured are points of error more, in the mean over the numbers of features; after the semicolon, when that agrees.

{agreement_table(claims(results))}

## Where it agrees and where not

{WORDS}

## Mean ℓ0 of a feature: all rows, negative, positive (the paper's Table 1)

{markdown_table(l0)}

Two features of Example1 (its section 3.2), rows that have them, negative and positive:

{markdown_table(features)}

{tables}
"""
