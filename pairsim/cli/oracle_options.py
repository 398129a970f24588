"""The options that describe oracles: in one place for every command that takes them, and the grid that they make."""

from __future__ import annotations

import functools
import inspect
import itertools
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from pairsim.cli import options
from pairsim.cli.running import refused
from pairsim.errors import ParameterError

if TYPE_CHECKING:
    from pairsim.oracles import Oracle

Grid = Callable[[], "list[Oracle]"]
"""What a command receives in place of the options: makes the oracles, one per point of the grid."""

FLAGS: dict[str, Any] = {  # options of oracles that have a flag of their own; all others are given by --set
    "p": options.ProbabilityOption,
    "r": options.SimilarityOption,
    "matrix": options.MatrixOption,
    "order": options.OrderOption,
    "difficulty": options.DifficultyOption,
}


def with_oracles(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all oracles in the place of its parameter `grid`."""
    hints = typing.get_type_hints(command, include_extras=True, localns={"Grid": Any, "Oracle": Any})
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name == "grid":
            parameters += [_optional(flag, kind) for flag, kind in _options().items()]
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        own = {name: given.pop(name) for name in _options()}
        command(grid=functools.partial(make_oracles, **own), **given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    del run.__wrapped__  # whose signature would be taken for this one's
    return run


def _options() -> dict[str, Any]:
    return {
        "n": options.ClassesOption,
        "p": FLAGS["p"],
        "oracle": options.OracleOption,
        **{name: kind for name, kind in FLAGS.items() if name != "p"},
        "set_": options.SetOption,
        "load": options.LoadOption,
    }


def _optional(name: str, annotation: Annotated[Any, "of typer"]) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def make_oracles(
    n: str | None = None, oracle: str | None = None, set_: list[str] | None = None, load: list[str] | None = None,
    **flags: str | None,
) -> list[Oracle]:  # fmt: skip
    """Return the oracles that the options describe, one per point of the grid; n varies fastest."""
    from pairsim.oracles.options import check_points, whole_points
    from pairsim.specs import read_pairs

    options.load_modules(load)
    given = {name: text for name, text in flags.items() if text is not None}
    for each in set_ or ():
        key, equals, text = (part.strip() for part in each.partition("="))
        if not equals or key in given:
            raise refused("set", "key=POINTS, each key once", repr(each))
        given[key] = text
    kind, tail = _kind_of(oracle, given)
    names = [each.name for each in kind.options]
    if tail:
        told = {kind.positional: tail} if kind.positional else read_pairs(kind.stored_name(), tail, names, lists=True)
        for name in told:
            if name in given:
                raise refused(name, "given once", f"{given[name]!r} and {told[name]!r}")
        given |= told
    for name, text in given.items():
        if name not in names:
            raise refused(name, f"omitted: the oracle {kind.stored_name()} has no such option", repr(text))
    classes = None if n is None else whole_points("n", n)
    if classes is None and kind.needs_n:
        raise refused("n", "given, for example --n 16..512", "nothing")
    values = []
    for option in kind.options:
        if option.required and option.name not in given:
            must_be = option.help or f"given, for example --set {option.name}={option.example}"
            raise refused(option.name, must_be, "nothing")
        values.append(option.read(option.name, given[option.name]) if option.name in given else [option.default])
        check_points(len(classes or [None]), *map(len, values))
    made = [
        kind.make(count, **dict(zip(names, reversed(point), strict=True)))
        for *point, count in itertools.product(*reversed(values), classes or [None])  # type: ignore[list-item]
    ]
    if classes is not None and not kind.needs_n and sorted({each.n for each in made}) != sorted(classes):
        raise refused("n", f"{made[0].n} as in the file, or omitted", repr(n))
    return made


def _kind_of(oracle: str | None, given: dict[str, str]) -> tuple[type[Oracle], str]:
    """Return the class of the oracles, and what is written behind its name."""
    from pairsim.oracles import REGISTRY, Oracle
    from pairsim.specs import find_class, load_spec, not_loaded, split_spec

    if oracle is None:
        return REGISTRY[_kind_with(given)], ""
    try:
        name, tail = split_spec("oracle", oracle, REGISTRY)
    except ParameterError:
        kinds = ", ".join(f"{each}:FILE.npz" if each == "recorded" else each for each in REGISTRY)
        raise refused("oracle", f"one of {kinds}, or module:Class", repr(oracle)) from None
    load_spec("oracle", oracle, REGISTRY)
    found = REGISTRY.get(name) or find_class(Oracle, name)  # type: ignore[type-abstract]
    if found is None:
        raise not_loaded("oracle", "name", name)
    return found, tail


def _kind_with(given: dict[str, str]) -> str:
    """Return the oracle that the given options belong to: the one with the fewest options that has the rarest of them.

    Examples
    --------
    >>> _kind_with({}), _kind_with({"p": "0.7"}), _kind_with({"p": "0.7", "order": "0.5"}), _kind_with({"r": "zipf:1"})
    ('uniform', 'uniform', 'ranked', 'similarity')
    """
    from pairsim.oracles import REGISTRY

    kinds = {
        name: [each for each, cls in REGISTRY.items() if name in {option.name for option in cls.options}]
        for name in given or ("p",)
    }
    rarest = min((owners for owners in kinds.values() if owners), key=len, default=["uniform"])
    return min(rarest, key=lambda name: len(REGISTRY[name].options))
