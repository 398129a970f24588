"""Names with settings as they are written on the command line: `svc-rbf` or `svc-rbf:C=10,gamma=0.1`."""

from __future__ import annotations

from collections.abc import Collection

from pairsim.checks import check_text
from pairsim.errors import parameter_error

Setting = bool | int | float | str | None
Settings = tuple[tuple[str, Setting], ...]

WORDS: dict[str, Setting] = {"true": True, "false": False, "none": None}


def split_spec(what: str, spec: str, names: Collection[str]) -> tuple[str, str]:
    """Return the name, one of `names`, and the text of the settings."""
    name, _, tail = check_text(what, "spec", spec, "text such as 'NAME' or 'NAME:key=value'").strip().partition(":")
    if name not in names:
        raise parameter_error(what, "name", "one of " + ", ".join(names), repr(name))
    return name, tail


def read_settings(owner: str, text: str, keys: Collection[str]) -> Settings:
    """Read `key=value,key=value` with known keys, each once."""
    settings: dict[str, Setting] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in keys or not equals or key in settings:
            must_be = "key=value, each once, with key one of " + ", ".join(sorted(keys))
            raise parameter_error(owner, "options", must_be, repr(part))
        settings[key] = read_value(value)
    return tuple(settings.items())


def write_spec(name: str, settings: Settings) -> str:
    """Return name and settings as they are written on the command line."""
    listed = ",".join(f"{key}={write_value(value)}" for key, value in settings)
    return f"{name}:{listed}" if listed else name


def read_value(text: str) -> Setting:
    """Return the setting that a word stands for: true, false, none, a number, or the word itself."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def write_value(value: Setting) -> str:
    """Return a setting as `read_value` reads it."""
    return next((word for word, meant in WORDS.items() if value is meant), str(value))
