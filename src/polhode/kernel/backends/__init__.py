"""Backends, which make of a graph something that runs: one file or folder each, with its own table of text."""
