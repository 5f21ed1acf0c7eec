"""Pages and pictures are opened in a real browser."""

import pytest

import tools


@pytest.fixture(scope="package")
def browser():
    path = tools.browser()
    if path is None:
        pytest.fail(tools.NO_BROWSER, pytrace=False)
    with tools.launched(path) as browser:
        yield browser
