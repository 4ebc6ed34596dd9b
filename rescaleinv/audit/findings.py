"""The findings of an audit in plain words, each with the numbers behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rescaleinv.audit.features import LARGEST_POWER
from rescaleinv.errors import MANY_LEFT_OUT
from rescaleinv.theory.nu_margin import NuMargin, largest_nu
from rescaleinv.verdict import class_words

if TYPE_CHECKING:
    from rescaleinv.audit.result import Audit

_OTHER_UNITS = f"up to {2**LARGEST_POWER:,} times larger or smaller"


@dataclass(frozen=True)
class Finding:
    """One sentence or two, what they are about, the numbers behind, and whether something is wrong.

    Examples
    --------
    >>> from rescaleinv.audit import scaling_audit
    >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]])
    >>> [finding.topic for finding in audit.findings][:2]
    ['answer', 'verdicts']
    """

    topic: str
    text: str
    numbers: dict[str, Any] = field(default_factory=dict)
    alarm: bool = False


def percent(share: float) -> str:
    """A share as one says it: never 0 % for some, nor 100 % for not all.

    >>> percent(0.384), percent(0.0), percent(0.002), percent(0.998), percent(1.0)
    ('38 %', '0 %', 'less than 1 %', 'more than 99 %', '100 %')
    """
    if 0 < share < 0.005:
        return "less than 1 %"
    return "more than 99 %" if 0.995 <= share < 1 else f"{share:.0%}".replace("%", " %")


def all_findings(audit: Audit) -> list[Finding]:
    """The findings in the order in which they should be read."""
    parts = (
        _answer,
        _verdicts,
        _multiplicity,
        _single_features,
        _without_features,
        _limited_units,
        _named_scalings,
        _truth,
        _consistency,
        _training,
    )
    return [finding for part in parts for finding in part(audit)]


def _answer(audit: Audit) -> Iterator[Finding]:
    answer = audit.answer
    if answer is None or audit.model.is_invariant_:
        return
    numbers = {
        name: getattr(answer, name) for name in ("kappa", "total", "hold", "change", "within_two", "every", "open")
    }
    yield Finding("answer", answer.sentence(f"labels of {audit.noun}"), numbers)


def _verdicts(audit: Audit) -> Iterator[Finding]:
    verdicts, n, noun = audit.verdicts, len(audit), audit.noun
    negative, positive = (class_words(name) for name in audit.class_names)
    neutral, strong, unknown = (int(mask.sum()) for mask in (verdicts.neutral, verdicts.strong, verdicts.unknown))
    numbers = {"points": n, **verdicts.counts()}
    if audit.model.is_invariant_:
        yield Finding(
            "verdicts",
            "Scaling makes no difference: every rescaling of the features gives the same SVM, so no label depends on units.",
            numbers,
        )
        return
    if unknown and not (neutral or strong):
        yield _undecided(audit, numbers)
        return
    yield Finding(
        "verdicts",
        f"{neutral} of {n} {noun} ({percent(neutral / n)}) {'is' if neutral == 1 else 'are'} neutral: the label, "
        f"{positive} or {negative}, depends on how the features were scaled.",
        numbers,
    )
    yield Finding(
        "verdicts",
        f"{strong} of {n} {noun} ({percent(strong / n)}) {'gets' if strong == 1 else 'get'} the same label under every "
        "rescaling of the features: "
        f"{int(verdicts.strongly_positive.sum())} {positive}, {int(verdicts.strongly_negative.sum())} {negative}.",
        numbers,
    )
    if unknown:
        yield _undecided(audit, numbers)


def _undecided(audit: Audit, numbers: dict[str, Any]) -> Finding:
    n, unknown = len(audit), int(audit.verdicts.unknown.sum())
    text = f"{unknown} of {n} {audit.noun} ({percent(unknown / n)}) could not be decided."
    changed = int((audit.verdicts.unknown & audit.changed).sum())
    if changed:
        text += f" {changed} of these depend on the scaling all the same: rescalings that were tried give both labels."
    return Finding("verdicts", text, {**numbers, "changed": changed}, alarm=True)


def _multiplicity(audit: Audit) -> Iterator[Finding]:
    """The words of the field; and the group in which most labels depend on the scaling."""
    whole = audit.multiplicity["all"]
    text = f"In the words of the literature: ambiguity {percent(whole.ambiguity)} (some rescaling changes the label), "
    if np.isnan(whole.discrepancy):  # no other scaling was compared
        text += (
            f"discrepancy at most {percent(whole.discrepancy_at_most)} (no one rescaling changes more labels at once)"
        )
    else:
        text += (
            f"discrepancy {percent(whole.discrepancy)} (changed at once by the worst rescaling of those tried; none exceeds "
            f"{percent(whole.discrepancy_at_most)})"
        )
    if not np.isnan(whole.conflict_ratio):
        text += f", conflict ratio {percent(whole.conflict_ratio)} (the usual scalings do not all agree)"
    yield Finding("verdicts", f"{text}.", dict(vars(whole)))
    groups = {name: figures for name, figures in audit.multiplicity.items() if name != "all"}
    if groups:
        worst = max(groups, key=lambda name: groups[name].ambiguity)
        parts = (f"{name} {percent(figures.ambiguity)} of {figures.points}" for name, figures in groups.items())
        yield Finding(
            "groups",
            f"By group the neutral {audit.noun} are: {', '.join(parts)}; most of them in {worst}.",
            {str(name): dict(vars(figures)) for name, figures in groups.items()},
        )


def _single_features(audit: Audit) -> Iterator[Finding]:
    shares = audit.features["alone"].to_numpy()
    if not len(shares) or not shares.max() > 0:
        return
    for j in np.argsort(-shares, kind="stable")[:2]:
        if shares[j] > 0:
            name, powers = audit.feature_names[j], np.abs(audit.alone[j].flipping_power)
            found = powers[powers > 0]
            enough = int(np.quantile(found, 0.5, method="higher"))
            by_then = int((found <= enough).sum())
            part = f"{by_then} of these {len(found)}" if by_then < len(found) else f"all {len(found)}"
            yield Finding(
                "features",
                f"{percent(shares[j])} of these {audit.noun} would be told something else if {name} alone were recorded in "
                f"other units ({_OTHER_UNITS}); a factor of {2**enough:,} is enough for {part}.",
                {"feature": name, "share": float(shares[j]), "points": len(found), "factor": 2**enough},
            )
    still = [
        name
        for name, share, one in zip(audit.feature_names, shares, audit.alone, strict=True)
        if share == 0 and len(one.signs)
    ]
    if still:
        yield Finding(
            "features",
            f"No unit that was tried for {_listed(still)} alone changes any label.",
            {"features": still},
        )


def _without_features(audit: Audit) -> Iterator[Finding]:
    shares = audit.features["neutral without"].to_numpy(dtype=float)
    now = float(audit.verdicts.neutral.mean())
    if now == 0 or audit.verdicts.unknown.any() or not np.isfinite(shares).any():
        return
    j = int(np.nanargmin(shares))
    if shares[j] < now:
        yield Finding(
            "features",
            f"Without {audit.feature_names[j]} {percent(shares[j])} of the {audit.noun} would be neutral instead of "
            f"{percent(now)}: of all single features, leaving this one out removes most of the doubt.",
            {"feature": audit.feature_names[j], "neutral without": float(shares[j]), "neutral": now},
        )


def _limited_units(audit: Audit) -> Iterator[Finding]:
    limited = audit.limited
    if limited is None or not len(limited.asked):
        return
    n, changed, noun = len(limited.asked), len(limited.changed), audit.noun
    kind = "undecided or neutral" if audit.verdicts.unknown.any() else "neutral"
    looked = "" if limited.share == 1 else " that were looked at closer"
    half = float(np.median(limited.radius[limited.asked, 1]))
    if np.isfinite(half):
        numbers = {"asked": n, "changed": changed, "kappa": limited.kappa, "half": half}
        text = f"For half of the {n} {kind} {noun}{looked}, units that are off by a factor of {half:.3g} are enough to "
        yield Finding("units", f"{text}change the label.", numbers)
    j = int(limited.kept.argmax())
    if limited.kept[j]:
        yield Finding(
            "units",
            f"{int(limited.kept[j])} of the {changed} {noun} whose label can change within a factor of {limited.kappa:g} "
            f"would keep it if the unit of {audit.feature_names[j]} were fixed; no other feature does as much.",
            {"feature": audit.feature_names[j], "kept": int(limited.kept[j]), "undecided": int(limited.undecided[j])},
        )


def _named_scalings(audit: Audit) -> Iterator[Finding]:
    names = [scaling.name for scaling, usable in zip(audit.scalings, audit.usable, strict=True) if usable]
    if len(names) > 1:
        split, n = int(audit.split.sum()), len(audit)
        shares = audit.disagreement.loc[names, names].to_numpy()
        a, b = np.unravel_index(int(shares.argmax()), shares.shape)
        text = f"The {len(names)} scalings tried disagree about {split} of {n} {audit.noun} ({percent(split / n)})."
        if split:
            text += f" Furthest apart are {names[a]!r} and {names[b]!r}: {percent(shares[a, b])} get different labels."
        yield Finding("scalings", text, {"scalings": names, "points": split, "largest": float(shares.max())})
        quiet = int((audit.verdicts.neutral & ~audit.split).sum())
        if quiet:
            yield Finding(
                "scalings",
                f"Of {quiet} of the neutral {audit.noun} all of these scalings give the same label: trying the usual "
                "scalings would not have found out.",
                {"points": quiet},
            )
    missing: dict[str, list[str]] = {}
    for scaling in audit.scalings:
        if scaling.values is None:
            missing.setdefault(scaling.note, []).append(scaling.name)
    if missing:
        reasons = "; ".join(f"{', '.join(map(repr, names))}: {note}" for note, names in missing.items())
        yield Finding("scalings", f"Not compared: {reasons}.", {"scalings": missing})


def _truth(audit: Audit) -> Iterator[Finding]:
    report = audit.report
    if report is None:
        return
    svm, strong = (_accuracy(figures) for figures in (report.svm, report.strong))
    known = int(report.svm.fp + report.svm.tp + report.svm.fn + report.svm.tn)
    called = f"{percent(strong)} of the strong verdicts are right" if np.isfinite(strong) else "no verdict is strong"
    yield Finding(
        "truth",
        f"Of the {known} {audit.noun} whose class is known, the plain SVM labels {percent(svm)} correctly; {called}.",
        {"plain SVM": svm, "strong verdicts": strong, "points": known},
    )


def _accuracy(figures: Any) -> float:
    called = figures.fp + figures.tp + figures.fn + figures.tn
    return float((figures.tp + figures.tn) / called) if called else float("nan")


def _consistency(audit: Audit) -> Iterator[Finding]:
    check = audit.consistency
    numbers = {"rescalings": check.n_rescalings, "labels": check.n_labels, "contradictions": len(check.contradictions)}
    if check.holds:
        text = (
            f"Checked: {check.n_rescalings} SVMs of rescaled or selected features were trained, and none of their "
            f"{check.n_labels:,} labels of {audit.noun} with a strong verdict contradicts it."
        )
        yield Finding("check", text, numbers)
        return
    name, point = check.contradictions[0]
    yield Finding(
        "check",
        f"Something is wrong: {len(check.contradictions)} labels of rescaled SVMs contradict a strong verdict, the first by "
        f"{name!r} at {audit.point_names[point]}. Do not use this audit, and report it.",
        numbers,
        alarm=True,
    )


def _training(audit: Audit) -> Iterator[Finding]:
    dropped, kept = len(audit.model.dropped_), audit.model.training_set_.n_rows
    if dropped:
        text = (
            f"{dropped} of {dropped + kept} training rows were left out, because no hyperplane separates the classes with "
            "them. Every SVM here was trained without them."
        )
        many = dropped > MANY_LEFT_OUT * (dropped + kept)
        if many:
            text += (
                f" That is {percent(dropped / (dropped + kept))} of the rows, and it pins the hyperplane: fewer labels "
                "depend on scaling than do with all rows."
            )
        numbers = {"left out": dropped, "kept": kept, "rows": audit.model.dropped_.tolist()}
        yield Finding("training", text, numbers, alarm=many)
    nu = audit.model._fitted.margin.nu
    if nu is not None:
        yield _overlap(nu, audit)
    for note in audit.notes:
        yield Finding("training", note)


def _overlap(margin: NuMargin, audit: Audit) -> Finding:
    """How far the classes overlap, and which ν was used."""
    nu, largest = float(margin.nu), float(largest_nu(audit.model.training_set_, margin.row_weights))
    share = margin.least / largest
    if margin.least == 0:
        overlap = "A hyperplane separates the classes, and a soft margin was asked for."
    else:
        overlap = (
            f"No hyperplane separates the classes. Where 0 % is separable, and at 100 % no hyperplane does better than "
            f"one label for all, they overlap by {percent(share)} (the least ν is {margin.least:.3g}, the largest "
            f"{largest:.3g})."
        )
    return Finding(
        "training",
        f"{overlap} Every SVM here has all {audit.model.training_set_.n_rows} training rows and the soft margin of "
        f"ν = {nu:.4g}, which is the same in all units.",
        {"nu": nu, "least nu": margin.least, "largest nu": largest, "overlap": share},
    )


def _listed(names: list[str], most: int = 4) -> str:
    shown = names[:most] + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
