"""Plots of results: sweeps, plans and fits."""

from __future__ import annotations

from pairsim.plots.fits import plot_fits
from pairsim.plots.frontier import plot_frontier
from pairsim.plots.style import COLOURS, MARKERS, PLOT_SUFFIXES, is_our_picture, save_picture
from pairsim.plots.success import plot_panels, plot_success
from pairsim.plots.trees import plot_tree

__all__ = [
    "COLOURS",
    "MARKERS",
    "PLOT_SUFFIXES",
    "is_our_picture",
    "plot_fits",
    "plot_frontier",
    "plot_panels",
    "plot_success",
    "plot_tree",
    "save_picture",
]
