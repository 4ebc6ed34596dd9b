"""Selection by a metric: with another one for scaling, ties, and names."""

import numpy as np
import pandas as pd
from made_rows import counts_of_words, score_of_presence
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline

from rescaleinv.scaling import BNSScaler, MetricSelector


def test_selection_by_one_metric_and_scaling_by_another():
    counts, labels = counts_of_words()
    names = [f"word {k}" for k in range(counts.shape[1])]
    frame = pd.DataFrame(counts, columns=names)
    gains = [score_of_presence("information_gain", column != 0, labels == 1) for column in counts.T]
    best = sorted(sorted(range(len(gains)), key=lambda k: (-gains[k], k))[:4])
    both = make_pipeline(MetricSelector("information_gain", 4), BNSScaler()).fit(frame, labels)
    assert list(both.get_feature_names_out()) == [names[k] for k in best]
    np.testing.assert_allclose(both[1].scale_, BNSScaler().fit(counts, labels).scale_[best])
    np.testing.assert_allclose(both[0].scores_, gains, atol=1e-12)
    sparse = make_pipeline(MetricSelector("information_gain", 4), BNSScaler()).fit_transform(csr_array(counts), labels)
    np.testing.assert_allclose(sparse.toarray(), both.transform(frame))


def test_of_equal_features_the_first_are_selected_and_all_where_there_are_no_more():
    column = np.array([0, 0, 1, 1.0])[:, None]
    selector = MetricSelector("bns", 2).fit(np.hstack([column] * 4), [0, 0, 1, 1])
    assert list(selector.get_support(indices=True)) == [0, 1]
    assert MetricSelector("bns", 9).fit(np.hstack([column] * 4), [0, 0, 1, 1]).get_support().all()
