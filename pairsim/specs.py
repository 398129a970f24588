"""Names with settings as they are written on the command line, and the classes of users that they may name.

`NAME:key=value,key=value` is something that is registered under NAME; `module:Class:key=value` is a class of a user.
Nothing here imports a module because a file names it: `load` is for names that the person at the keyboard typed. What
is read from a file only finds classes that are loaded already (`find_class`).
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import sys
import types
import typing
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pairsim.checks import check_text
from pairsim.errors import ParameterError, parameter_error

Base = TypeVar("Base")

WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}
_USER_CLASS = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*)")
_TOP_LEVEL = __name__.partition(".")[0]


def split_spec(
    what: str, spec: object, names: Collection[str], must_be: str = "", *, users: bool = True
) -> tuple[str, str]:
    """Return the name, one of `names` or, where `users` may have classes, `module:Class`, and the text of the settings.

    Examples
    --------
    >>> split_spec("decoder", "poll:l=5log", ["poll"]), split_spec("decoder", "my.module:Mine:k=3", ["poll"])
    (('poll', 'l=5log'), ('my.module:Mine', 'k=3'))
    """
    text = check_text(what, "spec", spec, must_be or "text such as 'NAME' or 'NAME:key=value'").strip()
    name, _, tail = text.partition(":")
    if name in names:
        return name, tail
    found = _USER_CLASS.match(text) if users else None
    if found and text[found.end() :][:1] in ("", ":"):
        return found[0], text[found.end() + 1 :]
    raise parameter_error(
        what, "name", "one of " + ", ".join(names) + (", or module:Class" if users else ""), repr(name)
    )


def names_user_class(name: str) -> bool:
    """Say whether a name is that of a user's class, `module:Class`.

    Examples
    --------
    >>> names_user_class("my.module:Mine"), names_user_class("poll")
    (True, False)
    """
    return _USER_CLASS.fullmatch(name) is not None


def read_pairs(owner: str, text: str, keys: Collection[str], *, lists: bool = False) -> dict[str, str]:
    """Read `key=value,key=value` with known keys, each once; with `lists`, values may have commas.

    Examples
    --------
    >>> read_pairs("ranked", "p=0.7,0.9,order=0.5", ["p", "order"], lists=True)
    {'p': '0.7,0.9', 'order': '0.5'}
    """
    values: dict[str, str] = {}
    last = ""
    for part in filter(None, text.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if lists and not equals and last:
            values[last] += f",{key}"
            continue
        if key not in keys or not equals or key in values:
            must_be = "key=value, each once, with key one of " + (", ".join(sorted(keys)) or "none: it has no options")
            raise parameter_error(owner, "options", must_be, repr(part))
        values[key] = value
        last = key
    return values


def read_value(owner: str, key: str, text: str, annotation: Any) -> Any:
    """Read a value of the type that a field is annotated with; a type that is not known here takes the text.

    Examples
    --------
    >>> read_value("mine", "k", "3", int), read_value("mine", "l", "3log", int | str)
    (3, '3log')
    >>> read_value("mine", "share", "0.5", float | None), read_value("mine", "fast", "true", bool)
    (0.5, True)
    >>> read_value("mine", "sizes", "3/4/5", tuple[int, ...])
    (3, 4, 5)
    """
    kinds = _members(annotation)
    for kind in (type(None), bool, int, float):
        if kind in kinds:
            found = _read_plain(text, kind)
            if found is not _NOT_READ:
                return found
    for kind in kinds:
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin in (tuple, list) and inner:
            values = [read_value(owner, key, part, inner[0]) for part in text.split("/") if part]
            return values if origin is list else tuple(values)
        if kind in (str, Any) or (kind not in _PLAIN and origin is None):
            return text
    raise parameter_error(owner, key, " or ".join(_PLAIN.get(kind, str(kind)) for kind in kinds), repr(text))


_NOT_READ = object()
_PLAIN = {
    int: "an integer",
    float: "a number",
    bool: "true or false",
    type(None): "none",
}


def _members(annotation: Any) -> tuple[Any, ...]:
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Literal:
        return tuple(dict.fromkeys(map(type, typing.get_args(annotation))))
    return (annotation,)


def _read_plain(text: str, kind: type) -> Any:
    if kind in (bool, type(None)):
        word = WORDS.get(text.lower(), _NOT_READ)
        return word if isinstance(word, kind) else _NOT_READ
    if kind is int:
        return int(text) if re.fullmatch(r"[+-]?\d{1,30}", text, re.ASCII) else _NOT_READ
    try:
        return float(text) if re.fullmatch(r"[-+.\dA-Za-z]{1,40}", text, re.ASCII) else _NOT_READ
    except ValueError:
        return _NOT_READ


# --- classes of users -------------------------------------------------------------------------------------------


def is_built_in(cls: type) -> bool:
    """Say whether a class is one of pairsim's own."""
    return cls.__module__.partition(".")[0] == _TOP_LEVEL


def class_name(cls: type) -> str:
    """Return the name under which a user's class is stored and found: `module:Class`."""
    return f"{cls.__module__}:{cls.__qualname__}"


def load(owner: str, module: str) -> None:
    """Import a module that the person at the keyboard named; the current directory is searched last."""
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", check_text(owner, "module", module, "the name of a module")):
        raise parameter_error(owner, "load", "the name of a module, such as my_package.my_module", repr(module))
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        importlib.import_module(module)
    except ParameterError:
        raise
    except Exception as error:
        must_be = "a module that can be imported"
        raise parameter_error(owner, "load", must_be, f"{module!r} ({type(error).__name__}: {error})") from error


def load_spec(owner: str, spec: str, names: Collection[str]) -> None:
    """Import the module of a spec that the person at the keyboard typed, where it names a user's class."""
    name, _ = split_spec(owner, spec, names)
    if names_user_class(name):
        load(owner, name.partition(":")[0])


def find_class(base: type[Base], name: str) -> type[Base] | None:
    """Return the loaded subclass of `base` that is called `module:Class`, None for none; imports nothing."""
    return next((cls for cls in _subclasses(base) if class_name(cls) == name and _is_current(cls)), None)


def _subclasses(base: type[Base]) -> Iterator[type[Base]]:
    for cls in base.__subclasses__():
        yield cls
        yield from _subclasses(cls)


def _is_current(cls: type) -> bool:
    """Say whether the module still has this class under its name: one that was loaded anew has another."""
    return getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls


def not_loaded(owner: str, what: str, name: str) -> ParameterError:
    """Build the rejection of a class that is known by name only."""
    module = name.partition(":")[0]
    return parameter_error(owner, what, f"loaded first (add --load {module})", f"{name}, which is in no loaded module")


def code_of(cls: type) -> str | None:
    """Return what tells the code of a user's class from another: a hash of its module's file, as it was loaded.

    The files of the user's classes that it is derived from are part of it. None where there is no file, as for a class
    that was typed at a prompt. Other modules that the class uses are no part of it: declare a `version`, and raise it
    with them.
    """
    return _codes.get(cls)


_codes: dict[type, str | None] = {}


def remember_code(cls: type) -> None:
    """Note the code of a class when it is made: an edit of the file after that is not what runs."""
    if is_built_in(cls):
        return
    own = dict.fromkeys(base.__module__ for base in cls.__mro__ if not is_built_in(base))
    files = [getattr(sys.modules.get(name), "__file__", None) for name in own if name not in ("abc", "builtins")]
    try:
        sources = [Path(file).read_bytes() for file in files if file is not None]
    except OSError:
        sources = []
    whole = len(sources) == len(files)
    _codes[cls] = hashlib.blake2b(b"\0".join(sources), digest_size=8).hexdigest() if whole else None


def can_be_imported(cls: type) -> bool:
    """Say whether a class can be found again by its name: it stands at the top of a module that can be imported."""
    return cls.__module__ != "__main__" and _is_current(cls)


def check_storable(owner: str, cls: type) -> None:
    """Reject a user's class that nobody could find again by its name."""
    if not is_built_in(cls) and not can_be_imported(cls):
        must_be = "without a store, or of classes at the top of a module that can be imported"
        raise parameter_error(owner, "store", must_be, class_name(cls))
