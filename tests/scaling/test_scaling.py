"""All estimators of the scaling room alike."""

import inspect

from estimator_checks import not_passed
from sklearn.base import BaseEstimator

from rescaleinv import scaling


def test_every_check_of_scikit_learn_passes():
    public = [getattr(scaling, name) for name in scaling.__all__]
    names = [one.__name__ for one in public if inspect.isclass(one) and issubclass(one, BaseEstimator)]
    assert {"BNSScaler", "FisherScaler", "LocalProbabilityShaper", "MetricSelector", "SupervisedScaler"} <= set(names)
    bad, count = not_passed(*(f"scaling.{name}" for name in names))
    assert not bad
    assert count > 40 * len(names)
