"""What the checker does with certificates that would take too long or too much memory, and with files that are none.

"Too much" is an answer of its own (exit code 3): neither proved nor refused. No test looks at a clock: the work is counted.
"""

import functools
import hashlib
import itertools
import json
import os
import pickle
import random
import resource
import subprocess
import sys
from fractions import Fraction

import certificate_corpus
import pytest

import rescaleinv.verify as verify
from rescaleinv.verify import LimitReached, Missing, NotChecked, Refused, Scope, check, check_complex, main

STORED = certificate_corpus.stored()


def training_of(rows, labels):
    content = {"training": {"sha256": "", "left_out": 0, "labels": list(labels), "rows": rows}}
    certificate_corpus.with_hashes(content)
    return content["training"]


def interchangeable_features(n):
    """Any one of n features does, so that the complex is a simplex; and a point for which n - 1 of its vertices are tied.

    All 2^(n-1) - 1 joins of the tied vertices have to be refuted; n - 1 vectors do it.
    """

    def vector(entries, t=0):
        return [str(entries.get(j, 0)) for j in range(n)] + [str(t)]

    training = training_of([["1"] * n, ["-1"] * n], [1, -1])
    lines = []
    for j in range(n):
        others = [k for k in range(n) if k != j]
        edges = [vector({j: 1}, 1), vector({j: 1}, -1)]
        for k in others:
            edges += [2 + j, vector({j: 1, k: -1})]
        lines.append([[0, 1, *(2 + k for k in others)], edges])
    header = {
        "schema": verify.COMPLEX_SCHEMA,
        "training": training,
        "tilt": [1, 2],
        "vertices": n,
        "multipliers": ["1", "1"],
        "versions": {},
    }
    data = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in (header, *lines))
    ties = [vector({0: -1, k: 1}) for k in range(1, n)]
    content = {
        "schema": verify.SCHEMA,
        "claim": "strongly negative",
        "point": ["-1", *["0"] * (n - 1)],
        "training": training,
        "evidence": {"kind": "complex", "sha256": hashlib.sha256(data).hexdigest(), "ties": ties},
        "versions": {},
    }
    return data, content


def test_tied_evidence_of_24_features_is_checked_in_little_work(tmp_path):
    """2^23 joint cells; of 0.1's checker this took minutes."""
    data, content = interchangeable_features(24)
    (tmp_path / "complex").write_bytes(data)
    found = check_complex(tmp_path / "complex", flint=False)
    assert check(certificate_corpus.as_text(content), complexes=[found], max_work=100_000) == "strongly negative"
    for k in range(23):  # every vector is needed
        lie = json.loads(json.dumps(content))
        del lie["evidence"]["ties"][k]
        with pytest.raises(Refused, match="the decision value 0 may belong to a rescaling") as refusal:
            check(certificate_corpus.as_text(lie), complexes=[found])
        assert not isinstance(refusal.value, NotChecked)


def all_signs(n):
    """Tied vertices with every weight positive or negative, and the 2^n vectors of all signs: 3^n - 1 joint cells.

    Each vector refutes a cell only until the next weight of the other sign joins it, so that all cells must be looked at.
    This is not the complex of any training set; it is what a liar may try to keep the checker busy with.
    """
    training = verify._Training(training_of([["1", *["0"] * n], ["-1", *["0"] * n]], [1, -1]))
    problem = verify._Perturbed(training, [1, 2], False, None)
    solutions = [(1, *(sign * (k == j) for k in range(n)), 0, 1) for j, sign in itertools.product(range(n), (1, -1))]
    vectors = [["0", *map(str, signs), "0"] for signs in itertools.product((1, -1), repeat=n)]
    return verify.Complex("", training, problem, len(solutions), solutions), vectors


def test_ties_that_need_exponential_work_reach_the_limit():
    point = [Fraction(0)] * 5
    found, vectors = all_signs(4)
    with verify._guarded(10**6):
        found.check("strongly negative", point, vectors)
    for k in range(len(vectors)):
        with verify._guarded(10**6), pytest.raises(Refused, match="no refutation of that is valid"):
            found.check("strongly negative", point, vectors[:k] + vectors[k + 1 :])
    found, vectors = all_signs(10)
    with pytest.raises(LimitReached, match="needs more than 1,000,000 steps to check"), verify._guarded(10**6):
        found.check("strongly negative", [Fraction(0)] * 11, vectors)


def brute_force_ties(cells, vectors):
    """Is each join of the cells refuted? All subsets, without any shortcut."""
    for size in range(1, len(cells) + 1):
        for chosen in itertools.combinations(cells, size):
            if all(a.agrees(b) for a, b in itertools.combinations(chosen, 2)):
                tight = positive = negative = None
                for cell in chosen:
                    tight = cell.tight if tight is None else tight & cell.tight
                    positive = cell.positive | (positive or 0)
                    negative = cell.negative | (negative or 0)
                if tight and not any(v.refutes(verify._Cell(tight, positive, negative)) for v in vectors):
                    return False
    return True


def test_the_shortcut_for_ties_agrees_with_all_subsets():
    """Random cells and vectors: only some joins are looked at, with the same answer."""
    rng = random.Random(0)
    answers = []
    for _ in range(3000):
        n, m = rng.randint(1, 4), rng.randint(1, 4)

        def signs(n=n):
            positive = rng.randrange(1 << n)
            return positive, rng.randrange(1 << n) & ~positive

        cells = list({verify._Cell(rng.randrange(1, 1 << m) | 1, *signs()) for _ in range(rng.randint(1, 5))})
        violated = [rng.choice([0, 0, 2, 4]) for _ in range(rng.randint(1, 6))]
        vectors = [verify._TieVector(rows, *signs()) for rows in violated]
        try:
            verify._require_all_refuted(cells, vectors, m)
            answer = True
        except Refused:
            answer = False
        assert answer == brute_force_ties(cells, vectors)
        answers.append(answer)
    assert 300 < sum(answers) < 2700


@functools.cache
def long_rows():
    """800 fractions of 4,000 digits whose denominators have nothing in common."""
    fractions = [f"1/{10**3999 + 2 * k + 1}" for k in range(800)]
    return training_of([[fractions[2 * i], fractions[2 * i + 1]] for i in range(400)], [1, -1] * 200)


@pytest.mark.parametrize("kind", ["two-rescalings", "cover", "two-labels", "complex"])
def test_800_fractions_of_4000_digits(kind, tmp_path, capsys):
    """Their common denominator would have ten million bits; of 0.1's checker this took 100 s."""
    record = next(
        record
        for record in STORED["certificates"].values()
        if record["content"]["evidence"]["kind"] == kind and len(record["content"]["point"]) == 2
    )
    content = {**record["content"], "training": long_rows()}
    if kind == "complex":
        header = {
            "schema": verify.COMPLEX_SCHEMA,
            "training": content["training"],
            "tilt": list(range(1, 401)),
            "vertices": 1,
            "multipliers": ["1", "1"],
            "versions": {},
        }
        text = json.dumps(header, separators=(",", ":")) + "\n[[0,1,400],[]]\n"
    else:
        text = certificate_corpus.as_text(content)
    (tmp_path / "long").write_text(text, encoding="ascii")
    assert main([str(tmp_path / "long")]) == 3
    shown = capsys.readouterr().out
    assert "NOT CHECKED: this certificate needs a common denominator of more than 1,048,576 bits" in shown
    assert "REFUSED" not in shown


def test_numbers_beyond_any_use(capsys, tmp_path):
    content = json.loads(json.dumps(STORED["certificates"]["example two-rescalings neutral"]["content"]))
    content["point"][0] = "0x" + "f" * 70_000
    with pytest.raises(LimitReached, match=r"point\[0\] has more than 32,768 digits"):
        check(certificate_corpus.as_text(content))


@pytest.mark.parametrize("name", sorted(STORED["certificates"]))
def test_every_kind_of_certificate_is_counted(name, tmp_path):
    """With less work than it needs each certificate is not checked; no limit at all is allowed too."""
    record = STORED["certificates"][name]
    text = certificate_corpus.as_text(record["content"])
    complexes = []
    if record["complex"] is not None:
        (tmp_path / "complex").write_text(STORED["complexes"][record["complex"]], encoding="ascii")
        complexes = [check_complex(tmp_path / "complex", max_work=None)]
        with pytest.raises(LimitReached, match="this certificate needs more than 10 steps"):
            check_complex(tmp_path / "complex", max_work=10)
    with pytest.raises(LimitReached, match="needs more than 2 steps to check; --max-work allows more"):
        check(text, complexes=complexes, max_work=2)
    assert check(text, complexes=complexes, max_work=None) == record["content"]["claim"]


def test_limits_on_the_command_line(tmp_path, capsys):
    record = STORED["certificates"]["soft 1 cover strongly positive within the range"]
    text = certificate_corpus.as_text(record["content"])
    (tmp_path / "one").write_text(text, encoding="ascii")
    (tmp_path / "pretty").write_text(json.dumps(json.loads(text), indent=1), encoding="ascii")
    assert main([str(tmp_path / "one"), "--max-work", "100"]) == 3
    assert main([str(tmp_path / "one"), "--max-work", "1000000"]) == 0
    capsys.readouterr()
    for name in ("one", "pretty"):
        assert main([str(tmp_path / name), "--max-bytes", "1000"]) == 3
        assert "NOT CHECKED: this certificate" in capsys.readouterr().out
        assert main([str(tmp_path / name), "--max-bytes", "100000"]) == 0
    # a refusal is more than a limit, and a limit is no refusal
    lie = certificate_corpus.as_text({**record["content"], "claim": "neutral within the range"})
    (tmp_path / "lie").write_text(lie, encoding="ascii")
    assert main([str(tmp_path / "one"), str(tmp_path / "lie"), "--max-work", "10000"]) == 1
    for option in ("--max-work", "--max-bytes", "--jobs"):
        with pytest.raises(SystemExit) as end:
            main([str(tmp_path / "one"), option, "0"])
        assert end.value.code == 2
    capsys.readouterr()


def test_a_line_of_a_gigabyte_is_not_read(tmp_path):
    """With half a gigabyte of memory for the process (the file has no blocks on the disk)."""
    for name, beginning in (("certificate", b'{"schema":"'), ("complex", b'{"schema":"rescaleinv-complex/1"')):
        with open(tmp_path / name, "wb") as file:
            file.write(beginning)
            file.truncate(2**30)
        done = subprocess.run(
            [sys.executable, "-I", "-S", verify.__file__, tmp_path / name],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29)),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (3, "")
        assert "needs more than 67,108,864 bytes on a line" in done.stdout


def test_memory_that_runs_out_is_not_a_refusal(monkeypatch, tmp_path, capsys):
    def fail(*_):
        raise MemoryError

    text = certificate_corpus.as_text(STORED["certificates"]["example two-rescalings neutral"]["content"])
    (tmp_path / "one").write_text(text, encoding="ascii")
    monkeypatch.setattr(verify, "_check", fail)
    assert main([str(tmp_path / "one")]) == 2
    assert capsys.readouterr().err == "rescaleinv verify: error: there is not enough memory to check this\n"


def test_a_defect_of_the_checker_is_not_a_refusal(monkeypatch, tmp_path, capsys):
    for error, code in ((TypeError("a defect"), 2), (KeyboardInterrupt(), 130)):

        def fail(*_, error=error):
            raise error

        text = certificate_corpus.as_text(STORED["certificates"]["example two-rescalings neutral"]["content"])
        (tmp_path / "one").write_text(text, encoding="ascii")
        monkeypatch.setattr(verify, "_check", fail)
        assert main([str(tmp_path / "one")]) == code
        output = capsys.readouterr()
        assert (output.out, output.err.count("\n")) == ("", 1)


def test_what_is_not_checked_is_never_taken_for_proved_or_refused():
    content = json.loads(json.dumps(STORED["certificates"]["example complex strongly positive"]["content"]))
    with pytest.raises(Missing, match="was not given"):
        check(certificate_corpus.as_text(content))
    del content["training"]["rows"], content["training"]["labels"]
    with pytest.raises(Missing, match="the rows are not in the certificate and were not given"):
        check(certificate_corpus.as_text(content))
    assert issubclass(Missing, Refused)
    assert issubclass(LimitReached, Refused)


# ---- files that are not certificates: one line each, and never a traceback


def run(*arguments, **options):
    command = [sys.executable, verify.__file__, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_a_file_that_is_not_a_certificate_is_one_line(tmp_path, capsys):
    (tmp_path / "table.csv").write_text("a,b\n" + "1,2\n" * 500)
    (tmp_path / "log.jsonl").write_text('{"message": "hello"}\n' * 500)
    (tmp_path / "model.json").write_text(json.dumps({"a": list(range(100))}, indent=1))
    for name in ("table.csv", "log.jsonl", "model.json"):
        assert main([str(tmp_path / name)]) == 1
        assert capsys.readouterr().out.count("\n") == 1


def test_files_that_can_not_be_read_are_one_line(tmp_path):
    good = certificate_corpus.as_text(STORED["certificates"]["example two-rescalings neutral"]["content"])
    (tmp_path / "good").write_text(good)
    (tmp_path / "deep").write_text("[" * 100_000)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "a\nb").write_text("")
    for arguments in (
        [tmp_path],
        [tmp_path / "good", "--training", tmp_path],
        [tmp_path / "good", "--training", tmp_path / "deep"],
        [tmp_path / "good", "--training", tmp_path / "binary"],
        [tmp_path / "dangling"],
        [tmp_path / "binary"],
        [tmp_path / "a\nb"],
        ["/dev/null"],
        [tmp_path / "good", "--points", tmp_path, "--verdicts", tmp_path / "good"],
        [tmp_path / "good", "--points", tmp_path / "binary", "--verdicts", tmp_path / "good"],
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert done.stderr.startswith("rescaleinv verify: error: ")
        assert done.stderr.count("\n") == 1
    assert run(tmp_path / "deep").stdout.count("\n") == 1


def test_a_file_that_is_not_there_is_named(tmp_path, capsys):
    assert main([str(tmp_path / "none")]) == 2
    assert (
        capsys.readouterr().err
        == f"rescaleinv verify: error: {tmp_path / 'none'} can't be read: No such file or directory\n"
    )


def test_help_is_about_options(capsys):
    """The theory of the evidence is in the file; it was eight pages of help."""
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert "Exit codes" in shown
    assert len(shown.splitlines()) < 60


def test_nul_bytes_in_names(tmp_path, capsys):
    (tmp_path / "good").write_text("{}")
    for arguments in (["a\0b"], [str(tmp_path / "good"), "--training", "a\0b"]):
        assert main(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_files_without_permission(tmp_path, capsys):
    (tmp_path / "closed").write_text("{}")
    (tmp_path / "closed").chmod(0)
    assert main([str(tmp_path / "closed")]) == 2


def test_control_characters_do_not_reach_the_terminal(tmp_path, capsys):
    path = tmp_path / "a\x1b[31mb"
    path.write_text('{"\x1b[2J": 1}')
    assert main([str(path)]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_quiet_prints_only_what_was_not_proved(tmp_path, capsys):
    content = STORED["certificates"]["example two-rescalings neutral"]["content"]
    (tmp_path / "good").write_text(certificate_corpus.as_text(content))
    (tmp_path / "bad").write_text(certificate_corpus.as_text({**content, "claim": "strongly positive"}))
    assert main([str(tmp_path / "good"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert main([str(tmp_path / "good"), str(tmp_path / "bad"), "--quiet"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("\n") == 1
    assert "bad: REFUSED" in shown


def test_a_reader_that_goes_away_is_no_proof(tmp_path):
    content = STORED["certificates"]["example two-rescalings neutral"]["content"]
    (tmp_path / "many").write_text((certificate_corpus.as_text(content) + "\n") * 3000)
    command = f"{sys.executable} {verify.__file__} {tmp_path / 'many'} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "")


# ---- the question


def test_the_question_comes_with_the_claim():
    content = STORED["certificates"]["mixed two-labels neutral within the range"]["content"]
    claim = check(certificate_corpus.as_text(content))
    question = claim.question
    assert question.point == tuple(map(Fraction, content["point"]))
    assert question.training_sha256 == content["training"]["sha256"]
    assert question.n_rows == len(content["training"]["rows"])
    ends = ((Fraction(1, 2), Fraction(2)), (Fraction(1), Fraction(1)), (Fraction(1, 4), Fraction(3)))
    assert question.scope == Scope((0, 1, 2), ends, None)
    assert str(question.scope) == "factors (0: 1/2 to 2, 1: 1 to 1, 2: 1/4 to 3), hard margin"
    assert len(question.point_sha256) == 64


def test_a_range_without_any_rescaling_is_said(tmp_path, capsys):
    """ "Strongly positive within the range" [1, 1] says nothing about scaling."""
    content = json.loads(json.dumps(STORED["certificates"]["hard cover strongly positive within the range"]["content"]))
    content["evidence"]["range"]["rescalings"] = [["1", "1"], ["1", "1"]]
    content["training"]["left_out"] = 2
    (tmp_path / "one").write_text(certificate_corpus.as_text(content))
    assert main([str(tmp_path / "one")]) == 0
    shown = capsys.readouterr().out
    assert "proved: strongly positive within the range; point (" in shown
    assert "(4 rows, 2 said to be left out), factors from 1 to 1, hard margin" in shown


def test_scopes_in_words():
    half, two = Fraction(1, 2), Fraction(2)
    assert str(Scope()) == "every rescaling, hard margin"
    assert str(Scope((0, 1, 0), ((half, two),) * 2)) == "factors from 1/2 to 2 of 2 groups (0, 1, 0), hard margin"
    assert str(Scope((0,), ((half, two),), (two, two))) == "factors from 1/2 to 2, penalties 2"
    assert str(Scope((0,), ((half, two),), (half, two))) == "factors from 1/2 to 2, penalties 1/2 to 2"


def test_copies_are_counted_once(tmp_path, capsys):
    text = certificate_corpus.as_text(STORED["certificates"]["example two-rescalings neutral"]["content"])
    (tmp_path / "copies").write_text(f"{text}\n" * 3)
    path = str(tmp_path / "copies")
    assert main([path]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith("1 proved, 0 refused, 2 repeated\n")
    assert shown.count(f"(repeats {path}:1, counted once)") == 2
    assert main([path, path]) == 0
    assert capsys.readouterr().out.endswith("1 proved, 0 refused, 5 repeated\n")


def test_a_claim_is_text_that_can_be_pickled():
    claim = check(certificate_corpus.as_text(STORED["certificates"]["example two-rescalings neutral"]["content"]))
    again = pickle.loads(pickle.dumps(claim))
    assert again == claim == "neutral"
    assert again.question == claim.question
