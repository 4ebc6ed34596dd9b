"""Options of every command that trains an SVM: which margin, and how rows and classes weigh."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

from rescaleinv.errors import InputError


def add_margin(command: argparse.ArgumentParser) -> None:
    """``--inconsistent``, ``--nu``, ``--C`` and ``--class-weight``."""
    command.add_argument(
        "--inconsistent",
        choices=("soft", "drop", "raise"),
        default="soft",
        help="where no hyperplane separates the classes: a soft margin with all rows (the default), leave rows out, or fail",
    )
    command.add_argument(
        "--drop-rule",
        choices=("misclassified", "fewest", "greedy"),
        default="misclassified",
        help="which rows --inconsistent drop leaves out (misclassified: by a soft margin)",
    )
    command.add_argument(
        "--nu", metavar="NUMBER", help='soft margin without a scale: a number up to 1, or "auto" (as SVC with C = 1)'
    )
    command.add_argument(
        "--C", metavar="NUMBER", type=float, default=math.inf, help="penalty of a soft margin (inf: a hard margin)"
    )
    command.add_argument(
        "--class-weight", metavar="WEIGHTS", help='"balanced", or a weight for each class: {"ill": 2, "healthy": 1}'
    )


def margin_parameters(options: argparse.Namespace, classes: tuple[str, ...]) -> dict[str, Any]:
    """The parameters of the estimator, whose labels are False and True for the two classes."""
    if not options.C > 0:
        raise InputError(f"--C {options.C:g}: a positive number is needed, or inf for a hard margin")
    return {
        "inconsistent": options.inconsistent,
        "drop_rule": options.drop_rule,
        "C": options.C,
        "nu": _nu(options.nu),
        "class_weight": _class_weight(options.class_weight, classes),
    }


def _nu(text: str | None) -> float | str | None:
    if text is None or text == "auto":
        return text
    wrong = f'--nu {text}: a number above 0 and up to 1, or "auto", is needed'
    try:
        number = float(text)
    except ValueError as error:
        raise InputError(wrong) from error
    if not 0 < number <= 1:
        raise InputError(wrong)
    return number


def _class_weight(text: str | None, classes: tuple[str, ...]) -> Any:
    if text is None or text == "balanced":
        return text
    try:
        given = json.loads(text)
        weights = {str(name): float(weight) for name, weight in given.items()}
        if not all(0 < weight < math.inf for weight in weights.values()):
            raise ValueError("a weight is not positive")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f'--class-weight {text[:80]}: "balanced", or a positive weight for each class, such as '
            f'{{"{classes[0]}": 1, "{classes[1]}": 2}}, is needed'
        ) from error
    unknown = [name for name in weights if name not in classes]
    if unknown:
        raise InputError(f"--class-weight: {unknown[0]!r} is not a class; they are {classes[0]!r} and {classes[1]!r}")
    return {position == 1: weights.get(name, 1.0) for position, name in enumerate(classes)}
