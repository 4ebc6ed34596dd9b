"""The Karush-Kuhn-Tucker conditions of an SVM in fractions, with nothing of the package but the rows."""

from fractions import Fraction


def assert_svm(training_set, svm):
    """Every Karush-Kuhn-Tucker condition, exactly, on the rows as they are given."""
    rows = [[Fraction(x) for x in row] for row in training_set.features.tolist()]
    labels = training_set.signs.tolist()
    scores = [sum((w * x for w, x in zip(svm.weights, row, strict=True)), svm.intercept) for row in rows]
    margins = [y * score for y, score in zip(labels, scores, strict=True)]
    assert min(margins) == 1
    assert min(svm.multipliers.values()) > 0
    assert all(margins[i] == 1 for i in svm.multipliers)
    assert sum(a * labels[i] for i, a in svm.multipliers.items()) == 0
    assert min(svm.inverse_squared_rescaling) > 0
    for j, (d, w) in enumerate(zip(svm.inverse_squared_rescaling, svm.weights, strict=True)):
        assert d * w == sum((a * labels[i] * rows[i][j] for i, a in svm.multipliers.items()), Fraction(0))
