"""Locks that forked children and pickled copies do not inherit locked."""

import multiprocessing
import os
import pickle

import pytest

from rescaleinv._util.locks import ForkSafeLock


def test_a_copy_by_pickle_is_another_lock():
    lock = ForkSafeLock()
    with lock, pickle.loads(pickle.dumps(lock)):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_finds_it_unlocked():
    lock = ForkSafeLock()

    def take() -> None:
        with lock:
            pass

    with lock:
        child = multiprocessing.get_context("fork").Process(target=take)
        child.start()
        child.join(60)
        assert child.exitcode == 0
