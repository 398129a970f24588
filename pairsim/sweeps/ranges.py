"""Reading the points of a sweep: values, lists and ranges."""

from __future__ import annotations

from pairsim.oracles.options import MOST_POINTS, check_points, real_points, whole_points

__all__ = ["MOST_POINTS", "check_points", "real_points", "whole_points"]
