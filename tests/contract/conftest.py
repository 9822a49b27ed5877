"""The running installation of the API's tests."""

from tests.api.conftest import limits as limits
from tests.api.conftest import site as site
