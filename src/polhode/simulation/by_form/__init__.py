"""Runs by the published forms of `ph.forms`: one body, or every body of a machine."""
