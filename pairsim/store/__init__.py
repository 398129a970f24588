"""The results store: one SQLite file that never loses, double-counts or silently corrupts a result."""

from __future__ import annotations

from pairsim.store.errors import BlockConflict, StoreError
from pairsim.store.header import is_store
from pairsim.store.merge import MergeReport, merge_stores
from pairsim.store.records import BlockRecord, OracleRecord, PairRecord, Request, Run, TaskRecord, task_id, task_kind
from pairsim.store.store import Store, is_writing

__all__ = [
    "BlockConflict",
    "BlockRecord",
    "MergeReport",
    "OracleRecord",
    "PairRecord",
    "Request",
    "Run",
    "Store",
    "StoreError",
    "TaskRecord",
    "is_store",
    "is_writing",
    "merge_stores",
    "task_id",
    "task_kind",
]
