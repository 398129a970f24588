"""Registries of what is compiled into kernels: functions for the type of a NamedTuple, checked when they are entered.

The names of a function's parameters are part of the protocol: numba compares them when a kernel is compiled, far from
the place where the mistake was made.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, Generic, TypeVar

from pairsim.errors import parameter_error
from pairsim.kernels.signatures import is_ours

Functions = TypeVar("Functions", bound=tuple[Any, ...])


class Registry(MutableMapping[type, Functions], Generic[Functions]):
    """Maps types of NamedTuples to the functions that `kind`, a NamedTuple too, has fields for.

    Parameters
    ----------
    name : str
        For messages.
    kind : type
        What is entered: a NamedTuple of functions.
    parameters : mapping
        The parameters of each function, as they are written.
    optional : sequence of str
        Functions that may be None.

    Examples
    --------
    >>> from typing import Any, NamedTuple
    >>> from pairsim.kernels.registry import Registry
    >>> class Functions(NamedTuple):
    ...     winner: Any
    >>> class Mine(NamedTuple):
    ...     n: int
    >>> registry = Registry("DECODERS", Functions, {"winner": "decoder, state"})
    >>> def winner(decoder, score):
    ...     return 0
    >>> registry[Mine] = Functions(winner)
    Traceback (most recent call last):
        ...
    pairsim.errors.ParameterError: The 'winner' parameter of DECODERS[Mine] must be a function of (decoder, state). Got a function of (decoder, score) instead.
    """  # noqa: E501

    def __init__(
        self, name: str, kind: type[Functions], parameters: Mapping[str, str], optional: tuple[str, ...] = ()
    ) -> None:
        self._name, self._kind, self._parameters, self.optional = name, kind, parameters, optional
        self._entries: dict[type, Functions] = {}
        self._given: dict[type, Functions] = {}  # the same before annotations were dropped
        self._used: set[type] = set()

    def __getitem__(self, key: type) -> Functions:
        functions = self._entries[key]
        self._used.add(key)  # from here on they may be in compiled kernels
        return functions

    def peek(self, key: type) -> Functions | None:
        """Return the functions without counting that as a use; None where there are none."""
        return self._entries.get(key)

    def __setitem__(self, key: type, functions: Functions) -> None:
        self._check_key(key)
        owner = f"{self._name}[{key.__name__}]"
        if not isinstance(functions, self._kind):
            raise parameter_error(self._name, key.__name__, f"a {self._kind.__name__}", repr(functions))
        for name, function in zip(self._parameters, functions, strict=True):
            if function is not None or name not in self.optional:
                _check_function(owner, name, function, self._parameters[name])
        if is_ours(key) and not all(_module_of(each).startswith("pairsim.") for each in functions if each is not None):
            raise parameter_error(
                self._name, "type", "a NamedTuple type of your own, not one of pairsim's", key.__name__
            )
        if (key in self._used or is_ours(key)) and self._given.get(key, functions) != functions:
            must_be = "registered once, for kernels are compiled with its functions (define the NamedTuple anew)"
            raise parameter_error(self._name, "type", must_be, f"{key.__name__} with other functions")
        self._given[key] = functions  # and stays, should the entry be deleted: compiled kernels do, too
        self._entries[key] = self._kind(*map(_without_annotations, functions))

    def __delitem__(self, key: type) -> None:
        del self._entries[key]

    def __iter__(self) -> Iterator[type]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:  # the inherited one would look it up, which counts as a use
        return key in self._entries

    def _check_key(self, key: object) -> None:
        if not (isinstance(key, type) and issubclass(key, tuple) and hasattr(key, "_fields")):
            raise parameter_error(self._name, "type", "a NamedTuple class", repr(key))


def _check_function(owner: str, name: str, function: object, parameters: str) -> None:
    """Reject what numba could not compile in the place of the protocol's function."""
    must_be = f"a function of ({parameters})"
    if not isinstance(function, types.FunctionType):
        raise parameter_error(owner, name, must_be, repr(function))
    signature = inspect.signature(function)
    found = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    wanted = [inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in parameters.split(", ")]
    if len(found) > 1 and found[-1].kind is inspect.Parameter.VAR_POSITIONAL:
        wanted = [*wanted[: len(found) - 1], found[-1]]  # *rest takes what is left
    if found != wanted:
        shown = signature.replace(parameters=found, return_annotation=signature.empty)
        raise parameter_error(owner, name, must_be, f"a function of {shown}")


def _without_annotations(function: Any) -> Any:
    """Return the function, or a copy without annotations: numba would take them for other parameters."""
    if function is None or not function.__annotations__:
        return function
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return copy


def _module_of(function: Callable[..., Any]) -> str:
    return str(function.__module__)
