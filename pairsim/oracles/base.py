"""What every oracle shares: a number of classes, a label for tables, and a compiled definition."""

from __future__ import annotations

import abc
import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.errors import parameter_error, shown
from pairsim.kernels.protocol import ORACLES, OracleFunctions, define_oracle, probability
from pairsim.kernels.stream import low_wins_with
from pairsim.memory import check_memory
from pairsim.oracles.options import Option
from pairsim.oracles.probabilities import PairProbabilities
from pairsim.specs import class_name, code_of, is_built_in, remember_code

if TYPE_CHECKING:
    from pairsim.oracles.recorded import Recorded

Arrays = dict[str, NDArray[Any]]
Shapes = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
# What an oracle says of its answers. A subclass with a kernel of its own gives others, so it inherits none of these.
FACTS = ("uniform", "exchangeable", "probabilities", "matrix", "words_per_question", "recording")


class _ReadOnlyMeta(abc.ABCMeta):
    """Makes instances that are frozen once their `__init__` is over."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        made = super().__call__(*arguments, **named)
        made._seal()
        return made


class Oracle(metaclass=_ReadOnlyMeta):
    """Base of the oracles.

    A subclass has `name`, `summary`, `options`, an `__init__` that sets `n` and an attribute for each option, and
    `kernel`. It compares by what `to_plain` returns. All other members have defaults that are right for any oracle;
    those in `FACTS` are about the answers, and are not inherited by a subclass that overrides `kernel`, `truth` or `p`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()  # for the command line; in a grid, the first one varies fastest
    loaded: ClassVar[bool] = True  # or is its class known by name only?
    positional: ClassVar[str] = ""  # the option that is all of TEXT in `--oracle NAME:TEXT`
    needs_n: ClassVar[bool] = True  # must the number of classes be given, or may it come from a file?
    version: ClassVar[int | None] = None  # tells the code of a user's oracle from another's, else a hash of the file
    # One p, and fair coins between wrong classes: oracles with the same n then share the games of the wrong classes.
    uniform: ClassVar[bool] = False
    # Are all wrong classes alike, so that class numbers mean nothing? Decoders then see numbers drawn in each trial.
    exchangeable: ClassVar[bool] = False
    n: int

    def __init_subclass__(cls, **more: Any) -> None:
        """Take back what a subclass with a kernel of its own would inherit about the answers of another oracle."""
        super().__init_subclass__(**more)
        remember_code(cls)
        if not {"kernel", "truth", "p"} & set(vars(cls)):
            return
        for name in FACTS:
            owner: Any = next(each for each in cls.__mro__ if name in vars(each))
            if owner is not cls and not getattr(owner.kernel, "__isabstractmethod__", False):
                setattr(cls, name, vars(Oracle)[name])

    @abc.abstractmethod
    def kernel(self) -> Any:
        """Return the NamedTuple that the compiled code knows this oracle by."""

    @property
    def label(self) -> str:
        """The oracle's name in tables and files."""
        listed = ",".join(_written(each.name, getattr(self, each.name)) for each in self.options if each.name != "p")
        return self.name + (f":{listed}" if listed else "")

    @property
    def p(self) -> float | None:
        """The probability that a pair with the true class is correct, where that is one number."""
        return None

    @property
    def words_per_question(self) -> float:
        """How many words of a slab are answered in the time of one query that is asked alone."""
        return 20.0

    @property
    def rows(self) -> int | None:
        """The number of trials there are: None when they can be drawn without end."""
        return None

    def truth(self, first: int, count: int) -> NDArray[np.int64]:
        """Return the true class of trials first .. first + count - 1."""
        return np.zeros(count, np.int64)

    def matrix(self) -> NDArray[np.float64]:
        """Return P, where P[i, j] is the probability that i wins pair {i, j} (1/2 on the diagonal)."""
        kernel = self.kernel()
        functions = _functions_of(kernel)
        if functions.probability is None:
            raise parameter_error(
                type(self).__name__, "matrix", "asked of an oracle with one probability per pair", self.label
            )
        upper = fair_matrix(type(self).__name__, self.n)
        for i in range(self.n):
            for j in range(i + 1, self.n):
                upper[i, j] = functions.probability(kernel, i, j)
        return mirror(upper)

    def probabilities(self) -> PairProbabilities | None:
        """Return the probabilities of the pairs where these are answered independently of each other, else None.

        Where there are any, so are exact values and bounds. By default there are where the answers are drawn with the
        probabilities of `define_drawn`.
        """
        drawn = _functions_of(self.kernel()).low_wins is _draw_low_wins and type(self).truth is Oracle.truth
        return PairProbabilities(self) if drawn else None

    @property
    def recording(self) -> Recorded | None:
        """The recorded answers, where the oracle is made of them."""
        return None

    @property
    def in_slabs(self) -> bool:
        """Whether it can be asked for 1,024 trials at a time: it has a probability for each pair, or `fill`."""
        functions = _functions_of(self.kernel())
        return functions.probability is not None or functions.fill is not None

    @classmethod
    def stored_name(cls) -> str:
        """Return the name in stores: that in the registry, `module:Class` of a user's class."""
        from pairsim.oracles import REGISTRY  # here: it is made of this class

        return cls.name if is_built_in(cls) or REGISTRY.get(cls.name) is cls else class_name(cls)

    @classmethod
    def code(cls) -> int | str | None:
        """Return what tells the code of a user's oracle from another's: its `version` if it has one, else a hash."""
        return code_of(cls) if cls.version is None else cls.version

    @classmethod
    def make(cls, n: int | None, **values: Any) -> Self:
        """Return the oracle for a point of a grid, from the values of its options."""
        return cls(n, **values)  # type: ignore[call-arg]

    @classmethod
    def example(cls, n: int) -> Self:
        """Return some oracle of this kind with n classes, for tests and to compile the kernels."""
        return cls.make(n, **{each.name: each.example if each.required else each.default for each in cls.options})

    def to_plain(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that the answers depend on: parameters as JSON knows them, "n" among them, and arrays."""
        return {"n": self.n} | {each.name: getattr(self, each.name) for each in self.options}, {}

    @classmethod
    def from_plain(cls, params: dict[str, Any], arrays: Arrays) -> Self:
        """Return the oracle that `to_plain` made plain; what a file holds may be anything."""
        return cls.make(params["n"], **{each.name: params[each.name] for each in cls.options})

    @classmethod
    def arrays_fit(cls, n: int, shapes: Shapes) -> bool:
        """Say whether an oracle has stored arrays of these shapes and dtypes; asked before they are made."""
        return not shapes

    def _seal(self) -> None:
        """End the construction: from here on the oracle is as frozen as a decoder (kernels trust n and the arrays)."""
        object.__setattr__(self, "_sealed", True)

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_sealed", False):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _identity(self) -> tuple[object, ...]:
        """Return what makes two oracles of one class equal."""
        params, arrays = self.to_plain()
        return (repr(params), *((name, array.tobytes()) for name, array in sorted(arrays.items())))

    def __repr__(self) -> str:
        listed = [repr(self.n), *(f"{each.name}={getattr(self, each.name)!r}" for each in self.options)]
        return f"{type(self).__name__}({', '.join(listed)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._identity()))


def _draw_low_wins(oracle, trial, i, j):
    return low_wins_with(probability(oracle, i, j), trial, i, j)


def define_drawn(kernel: type, probability: Any) -> None:
    """Define the oracle with the compiled form `kernel`, whose answers are drawn independently of each other.

    Pair i < j is won by i with probability(oracle, i, j), the same in every trial.
    """
    define_oracle(kernel, low_wins=_draw_low_wins, probability=probability)


def _functions_of(kernel: Any) -> OracleFunctions:
    """Return the functions of an oracle's compiled form, without counting that as a use."""
    found = ORACLES.peek(type(kernel))
    if found is None:
        name = type(kernel).__name__
        raise parameter_error("Oracle", "kernel", "a NamedTuple that define_oracle or define_drawn has defined", name)
    return found


def _written(name: str, value: object) -> str:
    return f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"


def fair_matrix(owner: str, n: int) -> NDArray[np.float64]:
    """Return the matrix of n classes whose pairs are all fair coins, when there is memory for it and its copies.

    Examples
    --------
    >>> fair_matrix("Uniform", 2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    check_memory(owner, "n", n, 4 * 8 * n * n, "a matrix of the probabilities of all pairs, with copies,")
    return np.full((n, n), 0.5)


def mirror(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the full matrix of probabilities whose part above the diagonal is that of `upper`."""
    probabilities = np.where(np.tri(len(upper), k=-1, dtype=bool), 1.0 - upper.T, upper)
    np.fill_diagonal(probabilities, 0.5)
    return probabilities


def as_numbers(owner: str, name: str, values: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    """Return a read-only float64 copy of `values` with the wanted number of dimensions and no nan."""
    must_be = f"numbers in {dimensions} dimension{'s' if dimensions > 1 else ''}, none of them nan"
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise parameter_error(owner, name, must_be, shown(values)) from None
    if array.ndim != dimensions:
        raise parameter_error(owner, name, must_be, f"{array.ndim} dimensions")
    if np.isnan(array).any():
        raise parameter_error(owner, name, must_be, "nan")
    array.setflags(write=False)
    return array
