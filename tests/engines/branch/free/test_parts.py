"""A point's tree in parts: together they prove what the whole tree proves, and nothing where one is missing."""

from dataclasses import replace

import numpy as np
import pytest

from rescaleinv import TrainingSet, Verdict
from rescaleinv.engines.branch.free.decide import Question
from rescaleinv.engines.branch.free.engine import TreeEngine
from rescaleinv.engines.branch.free.parts import joined, parts_of
from rescaleinv.engines.branch.free.tree import Budget, opposite
from rescaleinv.engines.staged import StagedEngine
from rescaleinv.verdict import verdict_words
from rescaleinv.verify import check


@pytest.fixture(scope="module")
def split_point():
    """A strong point whose tree has splits, with its engine and the decision of the whole."""
    rng = np.random.default_rng(4)
    features = rng.integers(0, 9, size=(40, 8)).astype(float)
    labels = np.where(features @ rng.normal(size=8) > 0, 1, -1)
    features[:, 0] += 3 * labels
    engine = TreeEngine(TrainingSet(features, labels), max_programs=6000)
    engine.precompute()
    for point in rng.integers(0, 9, size=(60, 8)) + rng.normal(size=(60, 1)) * 3:
        decision = engine.decide(point)
        if decision.code in (Verdict.STRONGLY_POSITIVE, Verdict.STRONGLY_NEGATIVE) and len(decision.first_splits) > 1:
            return engine, point, decision
    raise AssertionError("no point has a tree with splits")


@pytest.mark.parametrize("n_facts", [1, 2])
def test_parts_prove_what_the_whole_tree_proves(split_point, n_facts):
    engine, point, whole = split_point
    facts = whole.first_splits[:n_facts]
    parts = parts_of(facts)
    assert len(set(parts)) == 2**n_facts
    assert all(fact in (given, opposite(given)) for part in parts for fact, given in zip(part, facts, strict=True))
    found = [engine.decide_part(point, None, 6000, part, None) for part in parts]
    assert all(one.code == Verdict.UNKNOWN and one.part for one in found)  # a part alone is no verdict
    question = Question.of(engine.training_set, engine.reference, point)
    decision = joined(question, facts, found, left_out=2)
    assert decision.code == whole.code
    assert decision.refuted_share == 1
    assert decision.counts["programs"] == sum(one.counts["programs"] for one in found)
    assert check(decision.certificate.to_json()) == verdict_words(whole.code)
    assert decision.certificate.content["training"]["left_out"] == 2


def test_a_missing_or_wrong_part_is_no_verdict(split_point):
    engine, point, whole = split_point
    facts = whole.first_splits[:1]
    first, second = (engine.decide_part(point, None, 6000, part, None) for part in parts_of(facts))
    question = Question.of(engine.training_set, engine.reference, point)
    expired = engine.decide_part(point, 0.0, None, parts_of(facts)[1], None)
    decision = joined(question, facts, [first, expired], 0)
    assert decision.code == Verdict.UNKNOWN
    assert decision.certificate is None
    assert 0.5 <= decision.refuted_share < 1
    assert "the time limit of 0 s was reached" in decision.reason
    for wrong in (replace(second, part=first.part), replace(second, part=second.part[:-1])):
        decision = joined(question, facts, [first, wrong], 0)
        assert decision.code == Verdict.UNKNOWN
        assert "not exactly" in decision.reason


def test_two_processes_share_the_tree_of_one_point(split_point):
    engine, point, whole = split_point
    decision = engine.decide_in_parts(point, Budget(None, 6000), whole.first_splits, 2)
    assert decision.code == whole.code
    assert check(decision.certificate.to_json()) == verdict_words(whole.code)
    assert engine.decide(point) is decision  # kept for its certificate


def test_the_last_point_of_the_staged_engine_is_split(split_point, monkeypatch):
    engine, point, whole = split_point
    seen = []

    def in_parts(self, row, budget, splits, n_jobs, try_costs):
        seen.append((len(splits), n_jobs))
        return engine.decide(row)

    monkeypatch.setattr(TreeEngine, "decide_in_parts", in_parts)
    staged = StagedEngine(engine.training_set, n_jobs=2)
    first = replace(whole, code=Verdict.UNKNOWN, certificate=None)
    monkeypatch.setattr(StagedEngine, "_decided", lambda *_: (first, 0.0))
    monkeypatch.setattr("rescaleinv.engines.staged._SECONDS_ALONE", 0.0)
    verdicts = staged.certify(point[None])
    assert seen == [(len(whole.first_splits), 2)]
    assert verdicts[0] == whole.code
