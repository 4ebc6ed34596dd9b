"""The types that a model file of skops has of ours: ``skops.io.load(path, trusted=list(TRUSTED))``.

For fitted hard margins and soft margins with a C, before the first ``certify``: an engine that was made is not for skops.
``save`` and ``load`` of the estimators need no list, keep what was enumerated, and take soft margins with ν too.
"""

TRUSTED = (
    "rescaleinv._util.locks.ForkSafeLock",
    "rescaleinv.engines.EngineSettings",
    "rescaleinv.engines.choice.EngineChoice",
    "rescaleinv.estimators.fitted.Fitted",
    "rescaleinv.estimators.margin.Margin",
    "rescaleinv.estimators.multiclass.RescaleInvariantOneVsOne",
    "rescaleinv.estimators.multiclass.RescaleInvariantOneVsRest",
    "rescaleinv.estimators.reference.ReferenceSVM",
    "rescaleinv.estimators.svc.RescaleInvariantSVC",
    "rescaleinv.theory.conditioning.Conditioning",
    "rescaleinv.theory.training_set.TrainingSet",
)
