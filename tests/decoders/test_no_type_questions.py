"""A ratchet: nobody asks which decoder or oracle an object is: it says what it can do, or that is registered for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pairsim
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.oracles import REGISTRY as ORACLES

PACKAGE = Path(pairsim.__file__).parent
CONCRETE = {cls.__name__ for cls in (*DECODERS.values(), *ORACLES.values())} | {"Relabelled"}
NAMES = {*DECODERS, *ORACLES, *CONCRETE}
ALLOWED = {  # file: how many; lower a number when a question goes, and never raise one
    "fitting/traits.py": 1,  # a check of an argument, at the public edge
}


def questions(source: str) -> Iterator[int]:
    """Yield the lines that ask which decoder or oracle something is, by its type or by its name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _called(node) in ("isinstance", "issubclass"):
            found = any(map(_is_class, node.args[1:]))
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            by_type = any(_is_type(each) for each in sides) and any(map(_is_class, sides))
            found = by_type or (any(map(_is_name, sides)) and any(map(_is_word, sides)))
        elif isinstance(node, ast.MatchClass):
            found = _is_class(node.cls)
        else:
            continue
        if found:
            yield node.lineno if isinstance(node, ast.expr) else node.cls.lineno


def _called(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _is_class(node: ast.expr) -> bool:
    """Say whether an expression has the class of a decoder or an oracle in it, also as `decoders.MaxWin`."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return bool(CONCRETE & (names | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}))


def _is_type(node: ast.expr) -> bool:
    return _called(node) == "type" or (isinstance(node, ast.Attribute) and node.attr == "__class__") or _is_cls(node)


def _is_cls(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("cls", "kind")


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("name", "spec", "__name__")


def _is_word(node: ast.expr) -> bool:
    """Say whether an expression is the name of a decoder or an oracle, or has it in a tuple."""
    words = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return bool(words & NAMES)


def test_no_new_type_questions() -> None:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        lines = list(questions(path.read_text()))
        if lines:
            found[path.relative_to(PACKAGE).as_posix()] = lines
    more = {file: lines for file, lines in found.items() if len(lines) > ALLOWED.get(file, 0)}
    assert not more, f"ask what it can do, and not for its type (CONTRIBUTING, 'What a decoder ... can do'): {more}"
    fewer = {file: len(found.get(file, [])) for file, most in ALLOWED.items() if len(found.get(file, [])) < most}
    assert not fewer, f"questions have gone: lower ALLOWED to {fewer}"


def test_questions_are_noticed() -> None:
    """Negative control."""
    asking = [
        "isinstance(decoder, MaxWin)",
        "isinstance(x, Poll | TopK)",
        "isinstance(oracle, (Uniform, int))",
        "type(decoder) is Adag",
        "type(decoder) in (Adag, Ddag)",
        "issubclass(cls, Recorded)",
        "isinstance(x, decoders.MaxWin)",
        "x.__class__ is MaxWin",
        "cls is MaxWin",
        "type(x).__name__ == 'MaxWin'",
        "x.name == 'max-win'",
        "x.spec in ('adag', 'other')",
        "match x:\n    case Poll(): pass",
    ]
    assert [len(list(questions(each))) for each in asking] == [1] * len(asking)
    fine = [
        "isinstance(x, Decoder)",
        "Uniform(5, 0.9)",
        "type(a) is type(b)",
        "isinstance(x, int)",
        "MaxWin() == x",
        "x.name == name",
    ]
    assert [len(list(questions(each))) for each in fine] == [0] * len(fine)
