"""The names of the learners."""

import pytest

from rescaleinv import InputError
from rescaleinv.online import (
    LEARNERS,
    online_learner,
)


def test_there_are_eighteen():
    assert len(LEARNERS) == 18
    settings = {repr(online_learner(name)) for name in LEARNERS}
    assert len(settings) == 18
    with pytest.raises(InputError, match="no learner 'CW'"):
        online_learner("CW")
