"""Events within a run: where in a step they lie, and those of force elements."""
