"""Engines run units of work: on threads, on processes, on any executor, or on a Dask cluster."""

from __future__ import annotations

from pairsim.engines.base import Engine, EngineLost, Finished, UnitError, Work, WorkerDied
from pairsim.engines.dask_address import check_address
from pairsim.engines.dask_cluster import DaskEngine
from pairsim.engines.executors import ExecutorEngine
from pairsim.engines.processes import ProcessEngine
from pairsim.engines.run import run_units
from pairsim.engines.threads import ThreadEngine

__all__ = [
    "DaskEngine",
    "Engine",
    "EngineLost",
    "ExecutorEngine",
    "Finished",
    "ProcessEngine",
    "ThreadEngine",
    "UnitError",
    "Work",
    "WorkerDied",
    "check_address",
    "run_units",
]
