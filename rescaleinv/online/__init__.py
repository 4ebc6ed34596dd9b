"""Classifiers that see each row once and scale the features as they learn.

The eighteen learners of Bollegala & Iba, *Feature Scaling for Online Learning of Binary Classifiers*, in three classes, and
the scaler of one of them by itself.
"""

from rescaleinv.online.feature_scaling import OnlineFeatureScaling
from rescaleinv.online.learners import LEARNERS, online_learner
from rescaleinv.online.logistic import OnlineLogistic
from rescaleinv.online.passive_aggressive import OnlinePassiveAggressive
from rescaleinv.online.running import RunningScaler

__all__ = [
    "LEARNERS",
    "OnlineFeatureScaling",
    "OnlineLogistic",
    "OnlinePassiveAggressive",
    "RunningScaler",
    "online_learner",
]
