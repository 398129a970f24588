"""Data sets by name, from csv files, a folder of them or OpenML: as they are, and as the numbers that models take."""

from __future__ import annotations

from pairsim.datasets.dataset import Dataset, Numbers
from pairsim.datasets.loading import known_names, load
from pairsim.datasets.preparing import preprocessor

__all__ = ["Dataset", "Numbers", "known_names", "load", "preprocessor"]
