"""Entries of our own model files: their keys, their values, and the reader of files that are right."""
