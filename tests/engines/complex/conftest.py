"""Fixtures of the tests about complex certificates."""

import pytest
from complex_certificates import SMALL, Content, data_of, engine_of

from rescaleinv.verify import check_complex


@pytest.fixture
def checked(tmp_path):
    """Checks bytes, or a ``Content``, as a complex certificate."""

    def run(content, flint=False):
        path = tmp_path / "content"
        path.write_bytes(content if isinstance(content, bytes) else content.data())
        return check_complex(path, flint=flint)

    return run


@pytest.fixture
def proved(tmp_path):
    """An engine that was proved, the path of the certificate as ``engine.proof.path``."""

    def run(training_set, **options):
        engine = engine_of(training_set, **options)
        engine.prove(tmp_path / f"complex-{training_set.sha256[:8]}")
        return engine

    return run


@pytest.fixture(params=SMALL, ids=[name for name, *_ in SMALL])
def content(request):
    """A small complex certificate that is true."""
    return Content(data_of(*request.param))
