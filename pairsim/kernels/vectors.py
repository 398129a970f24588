"""Eight numbers side by side in one value: words (uint64) or reals (float64), as vector instructions take them.

A loop over arrays becomes vector code when LLVM sees through it, and then pays for counting, for tests of overlap and
for what is left over. These values are vector code by themselves, whatever stands around them, and stay in registers;
on machines with shorter registers a value takes two or four. No operation is fused with another, so that every machine
finds the same digits.

Without the compiler the values are NumPy arrays of eight, and the functions here are what they say.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import type_callable

WIDTH = 8
U_WIDTH = np.uint64(WIDTH)
PARITY, MAJORITY, MAJORITY_TWO_NOT = 0x96, 0xE8, 0x2B  # answers of three bits, as bits of a byte
TERNARY, HAS_TERNARY = "llvm.x86.avx512.pternlog.q.512", "+avx512f"  # any function of three words, where there is it


class EightType(types.Type):
    """The compiler's name for eight numbers of one type."""

    def __init__(self, member: Any) -> None:
        self.member = member
        super().__init__(f"Eight({member})")


EIGHT_WORDS, EIGHT_REALS = EightType(types.uint64), EightType(types.float64)
_ELEMENTS = {EIGHT_WORDS: ir.IntType(64), EIGHT_REALS: ir.DoubleType()}


@register_default(EightType)
class _EightModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: EightType) -> None:
        super().__init__(manager, kind, ir.VectorType(_ELEMENTS[kind], WIDTH))


def load(array, at):
    """Return the eight numbers of a one-dimensional array that start at `at`, an unsigned number."""
    return array[at : at + U_WIDTH].copy()


def store(array, at, eight):
    """Write eight numbers to a one-dimensional array, from `at` on."""
    array[at : at + U_WIDTH] = eight


def repeat(number):
    """Return eight times the same number."""
    return np.full(WIDTH, number)


def parity(a, b, c):
    """Return the sum's bit of adding three words."""
    return a ^ b ^ c


def majority(a, b, c):
    """Return the carry's bit of adding three words."""
    return (a & b) | ((a ^ b) & c)


def majority_two_not(a, b, c):
    """Return the carry's bit of adding ~a, ~b and c; the sum's bit is that of a, b and c."""
    return majority(~a, ~b, c)


def larger(a, b):
    """Return the larger of two reals each; no nan is expected."""
    return np.where(a > b, a, b)


def smaller(a, b):
    """Return the smaller of two reals each; no nan is expected."""
    return np.where(a < b, a, b)


def as_words(reals):
    """Return the bits of eight reals."""
    return reals.view(np.uint64)


def as_reals(words):
    """Return the reals with these bits."""
    return words.view(np.float64)


def lanes_above(reals, limit):
    """Return a number whose bit k says that the k-th real is not at most `limit`; not 0 means that one is above."""
    return sum(int(not reals[k] <= limit) << k for k in range(WIDTH))


def add_up(start, reals):
    """Return `start` plus the sum of the eight reals: half is added to half, thrice."""
    four = reals[:4] + reals[4:]
    two = four[:2] + four[2:]
    return start + (two[0] + two[1])


def type_as(function, result):
    """Let the compiler know the type that `function` returns for arguments of some types."""

    @type_callable(function)
    def typing(context):
        return result

    return typing


def _eight_of(member):
    return EIGHT_REALS if isinstance(member, types.Float) else EIGHT_WORDS


type_as(load, lambda array, at: _eight_of(array.dtype))
type_as(store, lambda array, at, eight: types.void)
type_as(repeat, _eight_of)
type_as(parity, lambda a, b, c: EIGHT_WORDS)
type_as(majority, lambda a, b, c: EIGHT_WORDS)
type_as(majority_two_not, lambda a, b, c: EIGHT_WORDS)
type_as(larger, lambda a, b: EIGHT_REALS)
type_as(smaller, lambda a, b: EIGHT_REALS)
type_as(as_words, lambda reals: EIGHT_WORDS)
type_as(as_reals, lambda words: EIGHT_REALS)
type_as(lanes_above, lambda reals, limit: types.uint8)
type_as(add_up, lambda start, reals: types.float64)


def _place(context, builder, kind, array, at):
    """Return the address of eight numbers in an array."""
    data = context.make_array(kind)(context, builder, array).data
    vector = ir.VectorType(_ELEMENTS[_eight_of(kind.dtype)], WIDTH)
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def lower_load(context, builder, kind, array, at):
    """Build what `load` does."""
    found = builder.load(_place(context, builder, kind, array, at))
    found.align = 8
    return found


def lower_store(context, builder, kind, array, at, eight):
    """Build what `store` does."""
    builder.store(eight, _place(context, builder, kind, array, at)).align = 8


@lower_builtin(load, types.Array, types.Integer)
def _load(context, builder, sig, args):
    return lower_load(context, builder, sig.args[0], *args)


@lower_builtin(store, types.Array, types.Integer, EightType)
def _store(context, builder, sig, args):
    lower_store(context, builder, sig.args[0], *args)
    return context.get_dummy_value()


def _repeat_value(builder, value):
    one = ir.VectorType(value.type, WIDTH)
    alone = builder.insert_element(ir.Constant(one, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(alone, ir.Constant(one, ir.Undefined), everywhere)


@lower_builtin(repeat, types.Number)
def _repeat(context, builder, sig, args):
    return _repeat_value(builder, context.cast(builder, args[0], sig.args[0], sig.return_type.member))


def _lower_ternary(function, table, plainly):
    """Return what builds a function of three words: one instruction where there is one, else what `plainly` builds."""

    def lower(context, builder, a, b, c):
        if HAS_TERNARY not in context.codegen().magic_tuple()[2]:
            return plainly(builder, a, b, c)
        kind = ir.FunctionType(a.type, [a.type, a.type, a.type, ir.IntType(32)])
        ternary = cgutils.get_or_insert_function(builder.module, kind, TERNARY)
        return builder.call(ternary, [a, b, c, ir.Constant(ir.IntType(32), table)])

    @lower_builtin(function, EIGHT_WORDS, EIGHT_WORDS, EIGHT_WORDS)
    def lower_call(context, builder, sig, args):
        return lower(context, builder, *args)

    return lower


def _plain_majority(builder, a, b, c):
    return builder.or_(builder.and_(a, b), builder.and_(builder.xor(a, b), c))


def _plain_majority_two_not(builder, a, b, c):
    return _plain_majority(builder, builder.not_(a), builder.not_(b), c)


lower_parity = _lower_ternary(parity, PARITY, lambda builder, a, b, c: builder.xor(builder.xor(a, b), c))
lower_majority = _lower_ternary(majority, MAJORITY, _plain_majority)
lower_majority_two_not = _lower_ternary(majority_two_not, MAJORITY_TWO_NOT, _plain_majority_two_not)


@lower_builtin(larger, EIGHT_REALS, EIGHT_REALS)
def _larger(context, builder, sig, args):
    return builder.select(builder.fcmp_ordered(">", *args), *args)


@lower_builtin(smaller, EIGHT_REALS, EIGHT_REALS)
def _smaller(context, builder, sig, args):
    return builder.select(builder.fcmp_ordered("<", *args), *args)


@lower_builtin(as_words, EIGHT_REALS)
@lower_builtin(as_reals, EIGHT_WORDS)
def _same_bits(context, builder, sig, args):
    return builder.bitcast(args[0], context.get_value_type(sig.return_type))


@lower_builtin(lanes_above, EIGHT_REALS, types.Float)
def _lanes_above(context, builder, sig, args):
    above = builder.fcmp_unordered(">", args[0], _repeat_value(builder, args[1]))
    return builder.bitcast(above, ir.IntType(8))


@lower_builtin(add_up, types.Float, EIGHT_REALS)
def _add_up(context, builder, sig, args):
    start, reals = args
    number = ir.IntType(32)
    for half in (4, 2, 1):
        places = [ir.Constant(ir.VectorType(number, half), list(range(first, first + half))) for first in (0, half)]
        low, high = (builder.shuffle_vector(reals, ir.Constant(reals.type, ir.Undefined), each) for each in places)
        reals = builder.fadd(low, high)
    return builder.fadd(start, builder.extract_element(reals, ir.Constant(number, 0)))


_OPERATIONS = {
    EIGHT_WORDS: {
        operator.add: "add",
        operator.mul: "mul",
        operator.and_: "and_",
        operator.or_: "or_",
        operator.xor: "xor",
        operator.lshift: "shl",
        operator.rshift: "lshr",
    },
    EIGHT_REALS: {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv"},
}


def _let_compute(function):
    """Let the compiler know an operator of two eights, or of an eight and a number, which is repeated."""

    @infer_global(function)
    class Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            eights = [arg for arg in args if isinstance(arg, EightType)]
            if len(args) != 2 or not eights or function not in _OPERATIONS[eights[0]]:
                return None
            return signature(eights[0], *(arg if isinstance(arg, EightType) else eights[0].member for arg in args))

    def lower(context, builder, sig, args):
        values = [
            value if isinstance(kind, EightType) else _repeat_value(builder, value)
            for value, kind in zip(args, sig.args, strict=True)
        ]
        return getattr(builder, _OPERATIONS[sig.return_type][function])(*values)

    for kinds in ((EightType, EightType), (EightType, types.Number), (types.Number, EightType)):
        lower_builtin(function, *kinds)(lower)
    return Typing


for _operator in {each for group in _OPERATIONS.values() for each in group}:
    _let_compute(_operator)
