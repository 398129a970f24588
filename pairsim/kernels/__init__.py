"""The compiled core: plain functions over arrays and NamedTuples. Numpy and numba only; compiled code never raises."""
