"""One hard point on several processes: its tree is split at the top, and each process refutes one part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rescaleinv.engines.branch.free.certificates import Writer
from rescaleinv.engines.branch.free.decide import Decision, Question, certified
from rescaleinv.engines.branch.free.tree import Fact, opposite
from rescaleinv.verdict import Verdict


def parts_of(facts: Sequence[Fact]) -> list[tuple[Fact, ...]]:
    """What each part assumes: the facts or their opposites, in the order in which a certificate has them.

    >>> from rescaleinv.engines.branch.free import leaf_kernel as kernel
    >>> [part[0].value for part in parts_of([Fact(kernel.SIGN, 3, -1.0)])]
    [1.0, -1.0]
    """
    parts: list[tuple[Fact, ...]] = [()]
    for fact in facts:
        halves = [fact, opposite(fact)] if Writer.comes_first(fact) else [opposite(fact), fact]
        parts = [(*part, half) for part in parts for half in halves]
    return parts


def joined(question: Question, facts: Sequence[Fact], found: Iterable[Decision], left_out: int) -> Decision:
    """What the decisions of all parts, in the order of ``parts_of``, say of the point.

    A flip in one part is a flip; a strong verdict needs the refutation of every part, and its certificate is checked.
    """
    decisions: list[Decision] = []
    for decision in found:
        decisions.append(decision)
        if decision.code == Verdict.NEUTRAL:
            break
    last = decisions[-1]
    refuted = [one for one in decisions if one.part is not None]
    if last.code == Verdict.NEUTRAL or len(refuted) < len(decisions):
        result = last if last.code == Verdict.NEUTRAL else next(one for one in decisions if one.part is None)
        result.refuted_share = sum(one.refuted_share for one in decisions) / 2 ** len(facts)
    else:
        writer = Writer(question.problem)
        result = certified(question, _entries(writer, facts, [one.part or [] for one in decisions]), left_out)
        result.refuted_share = 1.0
    counts = [one.counts for one in decisions]
    result.counts = {key: sum(count.get(key, 0) for count in counts) for key in counts[0]}
    return result


def _entries(writer: Writer, facts: Sequence[Fact], parts: list[list[Any]]) -> list[Any]:
    """The entries of the whole tree: splits first, then their halves."""
    if not facts:
        return parts[0]
    half = len(parts) // 2
    first, second = (_entries(writer, facts[1:], some) for some in (parts[:half], parts[half:]))
    return [writer.split(facts[0]), *first, *second]
