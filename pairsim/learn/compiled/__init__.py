"""Compiled loops of the learners: numpy and numba only."""
