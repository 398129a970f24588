"""Compiled loops of trained models: numpy and numba only."""
