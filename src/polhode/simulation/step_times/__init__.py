"""The times at which steps end: segments of runs and of companions, times solved for before a run."""
