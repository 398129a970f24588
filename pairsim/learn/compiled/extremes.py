"""The larger and the smaller of two reals, such that a loop over a row becomes vector code.

What Python's `max` is compiled to is a comparison and a choice, of which LLVM makes vector code only when it may assume
more of the choice than numba can tell it: loops over a row took three times as long.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.core.imputils import lower_builtin

from pairsim.kernels.vectors import type_as


def larger(a, b):
    """Return the larger of two reals, of which none is nan."""
    return max(a, b)


def smaller(a, b):
    """Return the smaller of two reals, of which none is nan."""
    return min(a, b)


def _lower(function, name):
    """Let the compiler take LLVM's own instruction for the function."""
    type_as(function, lambda a, b: types.float64)

    @lower_builtin(function, types.Float, types.Float)
    def lower(context, builder, sig, args):
        double = ir.DoubleType()
        values = [context.cast(builder, value, kind, types.float64) for value, kind in zip(args, sig.args, strict=True)]
        kind = ir.FunctionType(double, [double, double])
        return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [double], kind), values)

    return lower


_lower(larger, "maxnum")
_lower(smaller, "minnum")
