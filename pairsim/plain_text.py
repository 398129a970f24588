"""Text from files and other people, made safe for a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return the text on one line, with "?" in place of everything that could make a terminal do something.

    That is every character that Python does not call printable: control characters (C0 with ESC and BEL, C1 with CSI),
    line and paragraph separators, bidirectional overrides and other invisible formatting, and bytes that are not text.

    Examples
    --------
    >>> printable("matrix:two\nlines\x1b[31m.csv")
    'matrix:two?lines?[31m.csv'
    >>> printable("a\u202eb\x9bc")
    'a?b?c'
    """
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in text)
