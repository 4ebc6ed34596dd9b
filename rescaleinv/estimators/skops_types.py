"""The types that a model file of skops has of ours: ``skops.io.load(path, trusted=list(TRUSTED))``.

For fitted models before the first ``certify``: an engine that was made is not for skops. ``save`` and ``load`` of the
estimators need no list and keep what was enumerated.
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
    "rescaleinv.theory.nu_margin.NuMargin",
    "rescaleinv.theory.training_set.TrainingSet",
)
