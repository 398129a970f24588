"""Compiled loops of the coupling methods: numpy and numba only."""
