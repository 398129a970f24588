"""Registries that fill themselves: classes found in the files of a folder, and calculations registered for one type."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

Provider = TypeVar("Provider")
Base = TypeVar("Base")


class ByType(Generic[Provider]):
    """Calculations by the exact type of what they are for; a subclass, which may have other rules, has none.

    Examples
    --------
    >>> from pairsim.registries import ByType
    >>> names = ByType()
    >>> @names.register(int)
    ... def name_a_number(number):
    ...     return "a number"
    >>> names.of(3)(3), names.of(True)  # bool is a subclass of int
    ('a number', None)
    """

    def __init__(self) -> None:
        self._entries: dict[type, Provider] = {}

    def register(self, *kinds: type) -> Callable[[Any], Any]:
        """Return a decorator that registers a function, or an instance of a class, for these exact types."""

        def enter(provider: Any) -> Any:
            made = provider() if isinstance(provider, type) else provider
            for kind in kinds:
                self._entries[kind] = made
            return provider

        return enter

    def of(self, value: object) -> Provider | None:
        """Return what is registered for the type of `value`, None where there is nothing."""
        return self._entries.get(type(value))

    def __contains__(self, kind: object) -> bool:
        return kind in self._entries

    def __iter__(self) -> Iterator[type]:
        return iter(self._entries)


def import_all(package: str, path: list[str]) -> None:
    """Import every module of a package, so that what they register is there."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def classes_in(package: str, path: list[str], base: type[Base], first: Sequence[str] = ()) -> dict[str, type[Base]]:
    """Return the subclasses of `base` that the modules of a package define under a name.

    Those in `first` come first, all others in the order of their names.

    Only what a module of the package defines itself counts, and only classes that say `name` in their own body;
    a class says `registered = False` to stay out of lists.
    """
    import_all(package, path)
    waiting, found = [base], {}
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        own = vars(cls)
        if cls.__module__.rpartition(".")[0] == package and "name" in own and own.get("registered", True):
            found[own["name"]] = cls
    order = {name: place for place, name in enumerate(first)}
    return dict(sorted(found.items(), key=lambda each: (order.get(each[0], len(order)), each[0])))
