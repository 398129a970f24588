"""The open pairs of a trial in which none is asked twice: who has met whom, and who has lost how often.

Sets of classes are rows of bits, 64 classes to a word, so that the opponent with the fewest losses among those that a
class has not met is found by looking at n / 64 words and not at n classes.

Searches take the lowest number among equals. Were that the class number, the decoder would favour low classes, and the
random oracles' true class is number 0. So a decoder keeps them by places in a random list of the classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.errors import parameter_error
from pairsim.kernels.jit import bare_inner, inline_always, inner
from pairsim.kernels.stream import ONE, ZERO
from pairsim.kernels.ties import ANY, BY_MAX_WIN, FIRST, LOSE, RANDOM, settle
from pairsim.kernels.top_scores import lowest_bit

MOST_CLASSES = 65_535
WORD = 64
WORD_SHIFT = 6  # of a class number: // would ask whether it is negative
STANDING, GAMES, RANGE = 0, 1, 2  # rows of `numbers`
FEWEST, MOST = 0, 1  # places in row RANGE
FINISHED, MET = 0, 1  # first rows of `sets`


class OpenPairs(NamedTuple):
    """Games so far. A pair is marked as met when it is going to be asked, so one round cannot ask it twice.

    Compiled code keeps count of the references to an array wherever it branches or loops, which costs more than the
    work itself. Hence only two arrays, `meet` and `enter_answer` in straight lines, and the searches pasted where they
    are used.

    Rows of `numbers`: minus the losses of each class (the highest is the best, as `settle` wants it); how many answers
    are known of it; the fewest and the most losses. Rows of `sets`: who has played everybody; for each class c, whom it
    has met, itself included; for each number m of losses, who has lost m games (void beyond what was cleared).
    """

    numbers: np.ndarray  # int64[3, n]
    sets: np.ndarray  # uint64[1 + n + n, words]


def check_open_pairs_size(owner: str, n: int) -> int:
    """Return n when a table of n * n bits is not too much for one thread."""
    if n > MOST_CLASSES:
        must_be = f"at most {MOST_CLASSES:,} classes: who has met whom is kept as a table of n * n bits"
        raise parameter_error(owner, "n", must_be, n)
    return n


@inner
def new_open_pairs(n):
    """Return the room for n classes; what is never written to costs no memory."""
    return OpenPairs(np.zeros((3, n), np.int64), np.empty((1 + n + n, (n + WORD - 1) // WORD), np.uint64))


@bare_inner
def _bit(c):
    return ONE << (np.uint64(c) & np.uint64(WORD - 1))


@bare_inner
def start_open_pairs(numbers, sets):
    """Start a new trial: nobody has met anybody but itself, and nobody has lost."""
    n = numbers.shape[1]
    numbers[:] = 0
    sets[: MET + n + 2] = ZERO  # and nobody has lost one game
    for c in range(n):
        sets[MET + c, c >> WORD_SHIFT] |= _bit(c)
        sets[MET + n, c >> WORD_SHIFT] |= _bit(c)


@bare_inner
def meet(sets, i, j):
    """Mark a pair that is going to be asked."""
    sets[MET + i, j >> WORD_SHIFT] |= _bit(j)
    sets[MET + j, i >> WORD_SHIFT] |= _bit(i)


@bare_inner
def have_met(sets, i, j):
    """Return whether a pair is marked."""
    return sets[MET + i, j >> WORD_SHIFT] & _bit(j) != ZERO


@bare_inner
def enter_answer(numbers, sets, i, j, i_wins):
    """Enter the answer to a pair that is marked as met."""
    n = numbers.shape[1]
    loser = j if i_wins else i
    numbers[GAMES, i] += 1
    numbers[GAMES, j] += 1
    sets[FINISHED, i >> WORD_SHIFT] |= np.uint64(numbers[GAMES, i] == n - 1) * _bit(i)
    sets[FINISHED, j >> WORD_SHIFT] |= np.uint64(numbers[GAMES, j] == n - 1) * _bit(j)
    numbers[STANDING, loser] -= 1
    lost = -numbers[STANDING, loser]
    numbers[RANGE, MOST] = max(numbers[RANGE, MOST], lost)
    sets[MET + n + lost - 1, loser >> WORD_SHIFT] ^= _bit(loser)
    sets[MET + n + lost, loser >> WORD_SHIFT] |= _bit(loser)


@inline_always
def clear_levels(numbers, sets, games):
    """Make room for the losses of a round of so many games: nobody can lose more of them."""
    first = MET + numbers.shape[1] + numbers[RANGE, MOST] + 1
    for level in range(first, min(first + games, sets.shape[0])):
        for w in range(sets.shape[1]):
            sets[level, w] = ZERO


@inline_always
def next_player(numbers, sets, ties):
    """Return the lowest of those with the fewest losses that must play on; -1 when it is known whom max-win names.

    Whoever has the fewest losses and has played everybody is a max-win winner. Another class with as few losses may
    still become one, and the tie rule says whether that matters.
    """
    level = MET + numbers.shape[1] + numbers[RANGE, FEWEST]
    w = 0
    while sets[level, w] == ZERO:  # nobody has lost as little any more
        w += 1
        if w == sets.shape[1]:
            level += 1
            w = 0
    numbers[RANGE, FEWEST] = level - MET - numbers.shape[1]
    player = player_after(numbers, sets, -1)
    if ties != RANDOM:  # there, the tie is open as long as anybody can still play
        winner, several = known_winners(numbers, sets)
        if winner >= 0 and (ties == ANY or (ties == FIRST and winner < player) or (ties == LOSE and several)):
            player = -1
    return player


@bare_inner
def known_winners(numbers, sets):
    """Return the first max-win winner that is known, -1 for none, and whether there are several."""
    level = MET + numbers.shape[1] + numbers[RANGE, FEWEST]
    first = -1
    several = False
    for w in range(sets.shape[1]):
        done = sets[level, w] & sets[FINISHED, w]
        if done != ZERO:
            several = several or first >= 0 or done & (done - ONE) != ZERO
            if first < 0:
                first = (w << WORD_SHIFT) + lowest_bit(done)
    return first, several


@inline_always
def player_after(numbers, sets, c):
    """Return the next class after c with the fewest losses that has not played everybody, or -1."""
    level = MET + numbers.shape[1] + numbers[RANGE, FEWEST]
    w = (c + 1) >> WORD_SHIFT
    mask = ~(_bit(c + 1) - ONE)
    player = -1
    while w < sets.shape[1]:
        still = sets[level, w] & ~sets[FINISHED, w] & mask
        if still != ZERO:
            player = (w << WORD_SHIFT) + lowest_bit(still)
            break
        mask = ~ZERO
        w += 1
    return player


@inline_always
def find_opponent(numbers, sets, c, lost, word):
    """Return who has the fewest losses of those that c has not met (the lowest number among equals), or -1.

    The search begins at a word of those that have `lost` so many games: nobody that c has not met may stand before it.
    """
    level = MET + numbers.shape[1] + lost
    last = MET + numbers.shape[1] + numbers[RANGE, MOST]
    opponent = -1
    while level <= last:
        free = sets[level, word] & ~sets[MET + c, word]
        if free != ZERO:
            opponent = (word << WORD_SHIFT) + lowest_bit(free)
            break
        word += 1
        if word == sets.shape[1]:
            level += 1
            word = 0
    return opponent


@bare_inner
def name_best(open_pairs, labels, standing, ties, key):
    """Return the class that max-win names, with max-win's own draw among the tied; under ANY the known winner.

    Classes are numbered by their places in `labels`. The draw counts the tied in class order, as max-win's
    does: `standing`, int64[n], is scratch for it.
    """
    if ties == ANY:
        return labels[known_winners(open_pairs.numbers, open_pairs.sets)[0]]
    for at in range(labels.size):
        standing[labels[at]] = open_pairs.numbers[STANDING, at]
    return settle(standing, ties, key, BY_MAX_WIN)


@bare_inner
def name_best_so_far(open_pairs, labels, standing, ties, key):
    """Return the class with the most wins less losses: max-win's, if half of all open games were won.

    For a budget that is spent before max-win's winner is known. ANY is a draw among the tied, as none is known first.
    """
    for at in range(labels.size):
        standing[labels[at]] = open_pairs.numbers[GAMES, at] + 2 * open_pairs.numbers[STANDING, at]
    return settle(standing, RANDOM if ties == ANY else ties, key, BY_MAX_WIN)
