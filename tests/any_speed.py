"""Property tests that pass on a machine of any speed: Hypothesis fails those that are slow, where it is not told so."""

from hypothesis import HealthCheck, settings

at_any_speed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
