"""Configurations that take frames of a machine where they are wanted."""
