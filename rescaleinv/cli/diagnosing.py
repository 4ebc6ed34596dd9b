"""The work of ``rescaleinv diagnose``, once the tables are read."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from rescaleinv._util.tables import write_table
from rescaleinv._util.types import IntArray
from rescaleinv.audit.diagnosis import Diagnosis, diagnose
from rescaleinv.cli.table_input import LabelledTables, groups_of_points
from rescaleinv.errors import InputError

_SCALERS: dict[str, Any] = {
    "raw": None,
    "standard": StandardScaler,
    "minmax": MinMaxScaler,
    "robust": RobustScaler,
    "maxabs": MaxAbsScaler,
}


def diagnose_rows(tables: LabelledTables, usable: IntArray, options: argparse.Namespace) -> None:
    """Tell why the labels of these rows differ, and write what was asked for."""
    groups = groups_of_points(tables, options)
    train, positive = tables.training_frame(), tables.labels == tables.classes[1]
    found = diagnose(_fitted(options, train, positive), train, positive, tables.points_frame(usable))
    _show(found)
    if groups is not None:
        print()
        print(found.by_group([groups[i] for i in usable]).to_string())
    if options.out is not None:
        kept = tables.test.iloc[usable][tables.keep].reset_index(drop=True)
        frame = _all_rows(found, tables.classes)
        write_table(pd.concat([kept, frame], axis=1), options.out, escape_formulas=options.escape_formulas)
    if options.picture is not None:
        from rescaleinv.audit.displays import CausesDisplay

        CausesDisplay.from_diagnosis(found).figure_.savefig(options.picture)
        print(f"written: {options.picture}")


def _fitted(options: argparse.Namespace, X: pd.DataFrame, positive: Any) -> dict[str, Any]:
    models = {}
    for name in dict.fromkeys(options.scalers):
        svm, scaler = _svm(options), _SCALERS[name]
        model = svm if scaler is None else make_pipeline(scaler(), svm)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what did not converge is what this is about
                models[name] = model.fit(X, positive)
        except ValueError as error:
            raise InputError(f"the SVM after {name} can't be trained: {error}") from error
    return models


def _svm(options: argparse.Namespace) -> Any:
    if options.svm.startswith("linearsvc"):
        loss = "hinge" if options.svm == "linearsvc-hinge" else "squared_hinge"
        return LinearSVC(C=options.C, loss=loss, max_iter=options.max_iter or 1000, random_state=0)
    most = options.max_iter or 1_000_000
    if options.svm == "nusvc":
        return NuSVC(nu=options.nu, kernel="linear", max_iter=most)
    return SVC(C=options.C, kernel="linear", max_iter=most)


def _show(found: Diagnosis) -> None:
    for pair in found.pairs:
        print("\n".join(pair.sentences()))
        print()
    print(found.table().to_string())


def _all_rows(found: Diagnosis, classes: tuple[str, ...]) -> pd.DataFrame:
    """One row per point: the label of each model, and for each pair the cause and the verdict."""
    columns: dict[str, Any] = {"row": found.index}
    for model in found.models:
        columns[f"label, {model.name}"] = [classes[int(positive)] for positive in model.positive]
    for k, pair in enumerate(found.pairs):
        frame = found.to_frame(k)
        columns[f"cause, {' / '.join(pair.names)}"] = frame["cause"].tolist()
        columns[f"verdict, {' / '.join(pair.names)}"] = frame["verdict"].tolist()
    return pd.DataFrame(columns)
