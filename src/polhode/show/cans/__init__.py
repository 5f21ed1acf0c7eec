"""Cans in series: rotations and machines drawn so that the order and sense of every turn is seen."""
