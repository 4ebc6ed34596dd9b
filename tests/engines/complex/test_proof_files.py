"""Complex certificates as files: truncated, exchanged, checked by several processes; engines that are pickled."""

import json
import multiprocessing
import os
import pickle
import signal
import sys
import types
from pathlib import Path

import made_sets
import numpy as np
import pytest
from complex_certificates import Content, data_of, engine_of, example, points_around

from rescaleinv import verify
from rescaleinv.certificates.two_rescalings import training_object
from rescaleinv.engines.complex import proof as proof_module
from rescaleinv.errors import CertificateError
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verify import Refused, check_complex

FAULTY = made_sets.integer_ties(0, 5)


def test_an_incomplete_enumeration_proves_nothing(tmp_path):
    engine = engine_of(made_sets.drawn_from("breast_cancer_wisconsin", 1, 20)[0], max_vertices=50)
    assert not engine.complete
    for write in (engine.prove, engine.write_proof):
        with pytest.raises(CertificateError, match="nothing is proved: the enumeration of vertices stopped"):
            write(tmp_path / "complex")
    assert not (tmp_path / "complex").exists()
    assert engine.complexes == []


def test_an_engine_with_a_proof_can_be_pickled(proved):
    engine = proved(made_sets.integer_ties(2, 4))
    points = points_around(engine.training_set, np.random.default_rng(1), 10)
    again = pickle.loads(pickle.dumps(engine))
    assert again.proof == engine.proof or again.proof.sha256 == engine.proof.sha256
    assert again.complexes[0].solutions == engine.complexes[0].solutions
    verdicts = again.certify(points).prove()
    assert set(verdicts.status) == {"proved"}
    assert (verdicts.code == engine.certify(points).code).all()


@pytest.fixture
def two_files(tmp_path):
    """A complex certificate with certificates of points, and the training rows of another one."""
    engine = engine_of(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
    engine.prove(tmp_path / "complex")
    verdicts = engine.certify([[-1, 4], [4, 4], [0, 0]])
    verdicts.prove(tmp_path / "points")
    rows = verdicts.certificate(0).training_json()
    (tmp_path / "rows").write_text(rows)
    other = TrainingSet([[-1, 5], [5, -1], [1, 1]], [1, 1, -1])
    (tmp_path / "other rows").write_text(json.dumps(training_object(other, 0)))
    return tmp_path


def test_rows_that_are_given_must_be_those_of_the_complex(two_files, capsys):
    files = [str(two_files / "complex"), str(two_files / "points")]
    assert verify.main([*files, "--training", str(two_files / "rows")]) == 0
    assert verify.main([files[0], "--training", str(two_files / "other rows")]) == 1
    assert "training.sha256 is not that of the rows that were given" in capsys.readouterr().out


def test_a_complex_is_read_from_a_file_only(two_files, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", (two_files / "complex").open())
    assert verify.main(["-"]) == 2
    assert "is read from a file" in capsys.readouterr().err


def test_no_more_processes_than_processors(two_files, monkeypatch):
    asked = []
    monkeypatch.setattr(verify, "_check_complex_file", lambda path, jobs, *_: asked.append(jobs) or check_complex(path))
    assert verify.main([str(two_files / "complex"), "--jobs", "1000000"]) == 0
    assert 1 <= asked[0] <= os.cpu_count()


def test_a_process_that_dies_is_an_error_and_no_endless_wait(two_files, capsys, monkeypatch):
    monkeypatch.setattr(verify, "_check_lines", _die)
    with pytest.raises(verify._Unreadable, match="was killed"):
        verify._check_complex_file(str(two_files / "complex"), 2, False)


def _die(problem, lines):
    os.kill(os.getpid(), signal.SIGKILL)


def test_some_other_module_of_that_name_is_not_python_flint(two_files, monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", types.ModuleType("flint"))
    assert not verify._has_flint()
    assert check_complex(two_files / "complex").n_vertices == 2


def test_two_processes_see_the_same(proved, tmp_path, capsys):
    engine = proved(made_sets.integer_ties(0, 6))
    assert engine.proof.n_vertices > 128  # several blocks of lines
    path = engine.proof.path
    assert verify.main([str(path), "--jobs", "2", "--no-flint"]) == 0
    assert f"({engine.proof.n_vertices} vertices)" in capsys.readouterr().out
    content = Content(path.read_bytes())
    content.records[100][1][0] = None
    lie = tmp_path / "lie"
    lie.write_bytes(content.data())
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        again = check_complex(path, parallel=pool.imap)
        assert (again.solutions, again.sha256) == (engine.proof.checked.solutions, engine.proof.sha256)
        with pytest.raises(Refused, match=r"^vertex 100: the edge that .* neither a vertex nor a refutation") as caught:
            check_complex(lie, parallel=pool.imap)
    assert caught.value.vertices == [100]


def test_a_file_that_somebody_else_changes_is_not_believed(monkeypatch, tmp_path):
    other = data_of("integer_ties", 2, 4)

    def swapped(path, **options):
        Path(path).write_bytes(other)
        return check_complex(path, **options)

    monkeypatch.setattr(proof_module.verify, "check_complex", swapped)
    engine = engine_of(FAULTY)
    with pytest.raises(CertificateError, match="was changed by somebody else"):
        engine.prove(tmp_path / "complex")
    assert engine.proof is None


@pytest.mark.parametrize("training_set", [example(), made_sets.integer_ties(5, 3)], ids=["one vertex", "three"])
def test_truncation_at_any_byte(proved, checked, tmp_path, capsys, training_set):
    data = proved(training_set).proof.path.read_bytes()
    checked(data)
    path = tmp_path / "cut"
    for length in range(len(data)):
        part = data[:length]
        whole_lines = part.endswith(b"\n")
        match = r"^vertex \d+: its line is cut off" if b"\n" in part else "cut off in its first line"
        with pytest.raises(Refused, match=r"^\d+ vertices are listed, not the" if whole_lines else match):
            checked(part)
        path.write_bytes(data[:length])
        assert verify.main([str(path)]) in (1, 2)
    capsys.readouterr()
    path.write_bytes(data)
    assert verify.main([str(path)]) == 0
