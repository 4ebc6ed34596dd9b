"""How verdicts look."""

import numpy as np
from matplotlib.colors import to_rgb

from rescaleinv.plotting.style import LOOKS


def test_verdicts_can_be_told_apart_in_grey():
    lightness = sorted(np.dot(to_rgb(look.colour), (0.2126, 0.7152, 0.0722)) for look in LOOKS.values())
    assert np.diff(lightness).min() > 0.1
