"""Can the checker be fooled, and would we notice if one of its conditions were missing?

    python -m benchmarks.attack_checker [--quick]

Lies: true certificates of every kind, with a few numbers changed and all digests made anew, so that only the mathematics can
tell. ``rescaleinv.verify`` and the second checker of the tests, which shares no code with it, must agree on each; bytes that
are changed at random must be refused unless they still say the same.

Mutants: each condition of ``verify.py`` is taken out once, each comparison is moved by a hair, each "and" becomes "or".
Every such checker judges the lies. It is found out if it proves what is refused, refuses what is proved, or crashes. If it
only refuses for another reason, a later condition catches what the missing one let through; if nothing is noticed, the
change has no effect, or no lie has tested it. Both are listed, to be looked at.

Writes results/attack_checker.json.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import random
import re
import sys
import tempfile
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common import print_table, quick_flag, write_result
from rescaleinv import verify

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import certificate_corpus
import second_checker

_END_OF_CORE = "# ==== A table of verdicts"
# What is only shown, or only counted, or does the same in another way.
_NOT_CONDITIONS = {
    "_spend", "_words", "_steps", "_shortened", "_brief", "_range_text", "_listed", "__str__", "_solve_with_flint",
    "_has_flint", "_guarded", "_read_line", "check_complex", "name", "_least_common_multiple",
}  # fmt: skip
VERDICTS = FOUND_OUT, OTHER_REASON, UNNOTICED = ("found out", "other reason", "unnoticed")
ALL_KINDS = {"complex certificate", *verify._KINDS}
_PER_LINE = 30  # lies that are refused by the same condition: more of them add little
_SWAPS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}


# ---- lies


class Outcome(NamedTuple):
    """What a checker says: the claim that is proved, None if it was refused, and why."""

    proved: str | None
    reason: str


class Case:
    """A certificate with the complex certificates it may refer to, or a complex certificate by itself."""

    def __init__(
        self,
        name: str,
        text: str | None,
        complexes: tuple[str, ...] = (),
        data: bytes | None = None,
        training: str | None = None,
    ) -> None:
        self.name, self.text, self.complexes, self.data, self.training = name, text, complexes, data, training

    def outcome(self, checker: Any, known: dict[str, Any], folder: Path) -> Outcome:
        """The claim that is proved, or that something else went wrong than a refusal; and the reason of a refusal."""
        try:
            if self.data is not None:
                path = folder / "complex.jsonl"
                path.write_bytes(self.data)
                found = checker.check_complex(path, flint=False, max_work=10**7)
                return Outcome(f"complete: {sorted(found.solutions)}", "")
            complexes = [known[name] for name in self.complexes]
            return Outcome(str(checker.check(self.text, self.training, complexes, max_work=10**7)), "")
        except checker.Refused as error:
            return Outcome(None, re.sub("[0-9]+", "#", str(error)))
        except Exception as error:
            return Outcome(f"crash: {type(error).__name__}", "")


def lies(count: int, seed: int) -> Iterator[Case]:
    """So many lies about each stored certificate and ten times as many about each complex; the true ones first."""
    yield from planted()
    stored = certificate_corpus.stored()
    rng = random.Random(seed)
    for name, record in stored["certificates"].items():
        complexes = () if record["complex"] is None else (record["complex"],)
        yield Case(name, certificate_corpus.as_text(record["content"]), complexes)
        for _ in range(count):
            content = certificate_corpus.lie(record["content"], rng)
            yield Case(name, certificate_corpus.with_hashes(content), complexes)
    for name, text in stored["complexes"].items():
        yield Case(f"complex {name}", None, (), text.encode())
        for _ in range(10 * count):
            yield Case(f"complex {name}", None, (), certificate_corpus.lie_in_complex(text.encode(), rng))


def planted() -> Iterator[Case]:
    """Lies that no change of numbers makes."""
    stored = certificate_corpus.stored()
    name, other = "example two-rescalings neutral", "integers two-rescalings neutral"
    content = stored["certificates"][name]["content"]
    text = certificate_corpus.as_text(content)
    yield Case(name, text.replace('"claim": "neutral"', '"claim": "neutral", "claim": "neutral"'))
    yield Case(name, text.replace('"left_out": 0', '"left_out": 1'))  # the digest is left alone
    yield Case(name, text.replace('"versions": {', '"versions": {"x": NaN, '))
    yield Case(name, "[]")
    yield Case(name, certificate_corpus.as_text({**content, "evidence": "two-rescalings"}))
    yield Case(name, certificate_corpus.as_text({**content, "evidence": ["kind"]}))
    yield Case(name, certificate_corpus.as_text({**content, "training": []}))
    yield from _by_one_condition(stored)
    foreign = json.dumps(stored["certificates"][other]["content"]["training"])
    yield Case(name, text, training=foreign)
    for left_out in (0, -1, "0"):
        short = {"sha256": content["training"]["sha256"], "left_out": left_out}
        without = certificate_corpus.as_text({**content, "training": short})
        for training in (None, foreign, json.dumps(content["training"])):
            yield Case(name, without, training=training)
    for claim in ("strongly positive", "strongly negative"):
        name = f"integers complex {claim}"
        record = stored["certificates"][name]
        yield Case(name, certificate_corpus.as_text(record["content"]))  # its complex is not given
        yield Case(name, certificate_corpus.as_text(record["content"]), ("example",))
        changed = {**record["content"]["evidence"], "sha256": hashlib.sha256(stored["complexes"]["example"].encode())}
        changed["sha256"] = changed["sha256"].hexdigest()
        yield Case(
            name, certificate_corpus.as_text({**record["content"], "evidence": changed}), ("example", "integers")
        )
    for name, complex_text in stored["complexes"].items():
        for end in (complex_text.index("\n"), len(complex_text) - 1, complex_text.rindex("\n", 0, -1)):
            yield Case(f"complex {name}", None, data=complex_text[:end].encode())


def _by_one_condition(stored: dict[str, Any]) -> Iterator[Case]:
    """Lies that only one condition finds, and truths on its very edge."""

    def changed(name: str, change: Callable[[Any], Any]) -> Case:
        content = copy.deepcopy(stored["certificates"][name]["content"])
        change(content)
        return Case(name, certificate_corpus.as_text(content))

    name = "a row at the origin"
    for multipliers in ({"0": "1", "1": "1/5", "2": "1/5"}, {"0": "2/5", "1": "3/5", "2": "-1/5"}):
        yield changed(name, lambda c, a=multipliers: c["evidence"]["positive"].update(multipliers=a))
    for d in ("0", "-1"):  # of a constant feature
        factors = ["1", "4", d]
        yield changed(name, lambda c, d=factors: c["evidence"]["positive"].update(inverse_squared_rescaling=d))
    stationary = {"weights": ["8/5", "2/5", "0"], "intercept": "-2", "inverse_squared_rescaling": ["1/2", "2", "1"]}
    yield changed(name, lambda c: c["evidence"]["positive"].update(stationary))  # but no row is tight
    for point in (["5/4", "0", "0"], ["5", "0", "0"]):  # on the positive and on the negative classifier's hyperplane
        yield changed(name, lambda c, p=point: c.update(point=p))
    name = "tree with directions"
    for h in ({"0": "-1", "1": "1"}, {"0": "0", "1": "0"}, {}, {"0": "1"}):
        yield changed(name, lambda c, h=h: c["evidence"]["tree"][3].update(h=h))
    for split in (["sign", 2], ["row", 2], ["ratio", 2, "1"], ["weight", 0, "-1"], ["gradient", 0, "0"], ["sign"]):
        yield changed(name, lambda c, s=split: c["evidence"]["tree"].insert(0, s))
    name = "hard cover strongly positive within the range"
    for split in (
        ["factor", 0, "1/16"],
        ["factor", 0, "16"],
        ["factor", 2, "1"],
        ["sign", 2],
        ["row", 4],
        ["factor", 0, "17"],
    ):
        yield changed(name, lambda c, s=split: c["evidence"].update(cover=[s, *c["evidence"]["cover"] * 2]))
    for name, text in stored["complexes"].items():
        header, *lines = text.splitlines(keepends=True)
        record = json.loads(header)
        for key, values in (("multipliers", ["0"] * len(record["multipliers"])), ("tilt", [0, *record["tilt"][1:]])):
            data = json.dumps({**record, key: values}, separators=(",", ":")) + "\n" + "".join(lines)
            yield Case(f"complex {name}", None, data=data.encode())


def kind_of(case: Case) -> str:
    if case.data is not None:
        return "complex certificate"
    return str(certificate_corpus.stored()["certificates"][case.name]["content"]["evidence"]["kind"])


def compare_checkers(cases: list[Case], folder: Path) -> list[dict[str, Any]]:
    """What the two checkers say of each case."""
    known = known_complexes(verify, folder)
    texts = certificate_corpus.stored()["complexes"]
    again = {name: second_checker.complex_of(text.encode()) for name, text in texts.items()}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        first = case.outcome(verify, known, folder).proved
        if case.data is not None:
            same = (first is not None) == (second_checker.complex_of(case.data) is not None)
        else:
            complexes = [again[name] for name in case.complexes]
            same = first == second_checker.proves(case.text, case.training, complexes)
        outcome = "disagree" if not same else "refused by both" if first is None else "proved by both"
        counts[kind_of(case)][outcome] += 1
        if not same:
            print(f"DISAGREE: {case.name}: {case.text or case.data!r}")
    columns = ("proved by both", "refused by both", "disagree")
    return [{"kind": kind, **{column: count[column] for column in columns}} for kind, count in counts.items()]


def change_bytes(count: int, seed: int) -> dict[str, int]:
    """Bytes changed at random, digests left alone: refused, or the same JSON."""
    rng = random.Random(seed)
    counts = Counter[str]()
    records = [r["content"] for r in certificate_corpus.stored()["certificates"].values() if r["complex"] is None]
    for _ in range(count):
        content = rng.choice(records)
        text = certificate_corpus.as_text(content)
        data = bytearray(text.encode())
        for _ in range(rng.randint(1, 3)):
            start = rng.randrange(len(data))
            piece = data[start : start + rng.choice([1, 1, 2, 30])]
            data[start : start + rng.choice([0, 0, len(piece)])] = rng.choice([piece, b"", bytes([rng.randrange(128)])])
        changed = data.decode("utf-8", "replace")
        try:
            verify.check(changed)
            counts["same JSON" if json.loads(changed) == json.loads(text) else "PROVED"] += 1
        except verify.Refused:
            counts["refused"] += 1
    return dict(counts)


# ---- mutants of the checker


def known_complexes(checker: Any, folder: Path) -> dict[str, Any]:
    found = {}
    for name, text in certificate_corpus.stored()["complexes"].items():
        path = folder / "true.jsonl"
        path.write_text(text, encoding="ascii")
        found[name] = checker.check_complex(path, flint=False)
    return found


class Mutant:
    """One change of one node of the checker's syntax tree; ``apply`` makes it in a copy of the tree."""

    def __init__(self, operator: str, node: ast.AST, position: int, apply: Callable[[ast.AST], ast.AST | None]) -> None:
        self.operator, self.position, self.apply = operator, position, apply
        self.line = getattr(node, "lineno", 0)
        self.text = " ".join(ast.unparse(node).split())[:110]


def _is_requirement(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id in ("_require", "_require_given")
    )


def _is_refusal(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and not node.orelse


def _without(node: ast.AST) -> ast.AST:
    return ast.copy_location(ast.Pass(), node)


def _swapped(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    node.ops[0] = _SWAPS[type(node.ops[0])]()
    return node


def _other_connective(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return node


def mutants(tree: ast.Module, end: int) -> Iterator[Mutant]:
    """All mutants of the lines before ``end``."""
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in _NOT_CONDITIONS
        for inner in ast.walk(node)
    }
    for position, node in enumerate(ast.walk(tree)):
        if id(node) in skipped or not 0 < getattr(node, "lineno", 0) < end:
            continue
        if _is_requirement(node) or _is_refusal(node):
            yield Mutant("condition removed", node, position, _without)
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPS:
            yield Mutant("comparison moved", node, position, _swapped)
        elif isinstance(node, ast.BoolOp):
            yield Mutant("and / or", node, position, _other_connective)


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, apply: Callable[[ast.AST], ast.AST | None]) -> None:
        self.target, self.change = target, apply

    def visit(self, node: ast.AST) -> Any:
        return self.change(node) if node is self.target else self.generic_visit(node)


def mutated_module(tree: ast.Module, mutant: Mutant) -> types.ModuleType:
    changed = copy.deepcopy(tree)
    target = next(node for position, node in enumerate(ast.walk(changed)) if position == mutant.position)
    changed = ast.fix_missing_locations(_Replace(target, mutant.apply).visit(changed))
    module = types.ModuleType("mutated_checker")
    sys.modules["mutated_checker"] = module
    exec(compile(changed, "mutated_checker", "exec"), module.__dict__)
    return module


def refusing_line(case: Case, known: dict[str, Any]) -> int:
    """The line of the condition that refuses a certificate; 0 for a complex and for what is proved."""
    if case.text is None:
        return 0
    try:
        verify.check(case.text, case.training, [known[name] for name in case.complexes], max_work=10**7)
    except verify.Refused as error:
        while error.__cause__ is not None and isinstance(error.__cause__, verify.Refused):
            error = error.__cause__
        trace, line = error.__traceback__, 0
        while trace is not None:
            if trace.tb_frame.f_code.co_name not in ("_require", "_require_given"):
                line = trace.tb_lineno
            trace = trace.tb_next
        return line
    return 0


def chosen(cases: list[Case], known: dict[str, Any], rng: random.Random) -> list[Case]:
    """Not all lies, but some for each condition that refuses them, and all that were planted."""
    by_line: dict[tuple[int, str], list[Case]] = defaultdict(list)
    for case in cases:
        by_line[refusing_line(case, known), case.name if case.data is not None else ""].append(case)
    few = list(planted())
    for (line, _), group in by_line.items():
        few += rng.sample(group, min(len(group), _PER_LINE * (1 if line else 6)))
    return few


def kinds_by_line(source: str) -> list[set[str]]:
    """For each line of the checker, the kinds of cases that come to it: those of its section, or all."""
    kinds, by_line = ALL_KINDS, [set(ALL_KINDS)]
    for line in source.splitlines():
        if line.startswith("# ===="):
            named = {kind for kind in ALL_KINDS if f'"{kind}"' in line}
            named |= {"complex certificate", "complex"} if "omplex" in line else set()
            named |= {"tree"} if "two-rescalings" in named else set()  # its classifier
            kinds = named or ALL_KINDS
        by_line.append(set(kinds))
    return by_line


def try_mutants(cases: list[Case], folder: Path, quick: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    source = Path(verify.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source)
    end = source[: source.index(_END_OF_CORE)].count("\n") + 1
    known = known_complexes(verify, folder)
    few = chosen(cases, known, random.Random(0))
    expected = [case.outcome(verify, known, folder) for case in few]
    kinds = kinds_by_line(source)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    survivors = []
    every = list(mutants(tree, end))
    print(f"{len(every)} mutants, {len(few)} cases", flush=True)
    for number, mutant in enumerate(random.Random(1).sample(every, 40) if quick else every, 1):
        here = [k for k, case in enumerate(few) if kind_of(case) in kinds[mutant.line]]
        checker = mutated_module(tree, mutant)
        verdict = judged(checker, [few[k] for k in here], [expected[k] for k in here], folder)
        counts[mutant.operator][verdict] += 1
        if number % 50 == 0:
            print(f"{number} mutants done", flush=True)
        if verdict != FOUND_OUT:
            survivors.append(
                {"operator": mutant.operator, "verdict": verdict, "line": mutant.line, "text": mutant.text}
            )
            print(f"{verdict}: {mutant.operator}, line {mutant.line}: {mutant.text}", flush=True)
    rows = [
        {"operator": name, "mutants": count.total(), **{verdict: count[verdict] for verdict in VERDICTS}}
        for name, count in counts.items()
    ]
    return rows, survivors


def judged(checker: Any, cases: list[Case], expected: list[Outcome], folder: Path) -> str:
    """Is a mutant found out by what it proves, refuses or crashes at; or only by the reasons that it gives?"""
    try:
        known = known_complexes(checker, folder)
    except Exception:
        return FOUND_OUT
    verdict = UNNOTICED
    for case, told in zip(cases, expected, strict=True):
        found = case.outcome(checker, known, folder)
        if found.proved != told.proved:
            return FOUND_OUT
        if found.reason != told.reason:
            verdict = OTHER_REASON
    return verdict


def main() -> None:
    quick = quick_flag(__doc__)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = list(lies(20 if quick else 150, seed=1))
        compared = compare_checkers(cases, folder)
        print_table(compared)
        byte_changes = change_bytes(500 if quick else 20_000, seed=2)
        print(byte_changes)
        rows, survivors = try_mutants(cases, folder, quick)
        print_table(rows)
    if not quick:
        payload = {"lies": compared, "changed bytes": byte_changes, "mutants": rows, "survivors": survivors}
        print(write_result("attack_checker", payload))


if __name__ == "__main__":
    main()
