"""How a graph becomes something that runs: one file (or folder) for each backend, each with its own table of text."""
