"""A ratchet: nobody asks which decoder or oracle an object is: it says what it can do, or that is registered for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pairsim
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.oracles import REGISTRY as ORACLES

PACKAGE = Path(pairsim.__file__).parent
CONCRETE = {cls.__name__ for cls in (*DECODERS.values(), *ORACLES.values())} | {"Relabelled"}
ALLOWED = {  # file: how many; lower a number when a question goes, and never raise one
    "fitting/traits.py": 1,  # a check of an argument, at the public edge
}


def questions(source: str) -> Iterator[int]:
    """Yield the lines that compare the type of something with a decoder or an oracle that has a name."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        ):
            asked: list[ast.expr] = node.args[1:]
        elif isinstance(node, ast.Compare) and any(_is_call(each, "type") for each in (node.left, *node.comparators)):
            asked = [node.left, *node.comparators]
        else:
            continue
        if any(isinstance(name, ast.Name) and name.id in CONCRETE for each in asked for name in ast.walk(each)):
            yield node.lineno


def _is_call(node: ast.AST, *names: str) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def test_no_new_type_questions() -> None:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        lines = list(questions(path.read_text()))
        if lines:
            found[path.relative_to(PACKAGE).as_posix()] = lines
    more = {file: lines for file, lines in found.items() if len(lines) > ALLOWED.get(file, 0)}
    assert not more, f"ask the object what it can do (CONTRIBUTING, 'Capabilities'), and not for its type: {more}"
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
    ]
    assert [len(list(questions(each))) for each in asking] == [1] * len(asking)
    fine = ["isinstance(x, Decoder)", "Uniform(5, 0.9)", "type(a) is type(b)", "isinstance(x, int)", "MaxWin() == x"]
    assert [len(list(questions(each))) for each in fine] == [0] * len(fine)
