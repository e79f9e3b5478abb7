"""What the tests of the Python package share."""
import pytest

import gloveport


@pytest.fixture(scope="session")
def runtime():
    with gloveport.Runtime() as made:
        yield made


@pytest.fixture
def session(runtime):
    with runtime.open() as made:
        yield made
