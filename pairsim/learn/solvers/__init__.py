"""Solvers of the learners' optimisation problems, on Gram matrices and feature rows."""
