"""Settings for every test."""

import os
import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "polhode",
    max_examples=int(os.environ.get("POLHODE_EXAMPLES", "60")),  # `make test-all` asks for more
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),  # there the same examples every time; elsewhere new ones
)
settings.load_profile("polhode")

os.environ["POLHODE_CACHE"] = ""  # tests compile what they test; the cache has tests of its own

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background, which ignores it
