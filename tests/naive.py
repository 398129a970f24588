"""Slow, plain-Python twins of the random stream, the oracles and the decoders: the definitions, spelled out.

Everything here is written to be read beside the documentation, not to be fast: Python integers, exact fractions,
lists and dictionaries. The compiled code must agree with it query by query.
"""

from __future__ import annotations

import functools
import itertools
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any, NamedTuple

from cheapest import pair_up_naively

LowWins = Callable[[int, int], bool]  # does the lower class of pair (low, high) win?
Draw = Callable[..., int]  # draw(a, b, bound), one of 0 .. bound - 1; draw(a, b, bound, fork) from a fork of the key
Probabilities = Sequence[Sequence[float]]

TWO_64 = 2**64
GOLDEN = 0x9E3779B97F4A7C15
STREAM_VERSION, ANSWERS, DRAWS = 1, 1, 2
WINNER_DRAW = 2**31  # first coordinates beyond any class number: draws that belong to no class
CUT_DRAW = 2**31 + 1
LABELS_FORK = 2**32  # of the draws that number the classes anew


# --- the random stream -----------------------------------------------------------------------------------------------


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % TWO_64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % TWO_64
    return z ^ (z >> 31)


def fold(key: int, value: int) -> int:
    return mix(key ^ mix((value * GOLDEN + GOLDEN) % TWO_64))


def place(i: int, j: int) -> int:
    return ((i << 32) | j) * GOLDEN % TWO_64


def stream(seed: int, n: int) -> int:
    return fold(fold(fold(0, STREAM_VERSION), seed), n)


def answer_digit(root: int, trial: int, low: int, high: int, digit: int) -> int:
    """Return binary digit number `digit` (0 = worth 1/2) of the uniform number behind one answer."""
    word = fold(fold(root, ANSWERS), trial // 64)
    return (mix(place(low, high) ^ fold(word, digit)) >> (trial % 64)) & 1


def is_below(probability: Fraction, digit: Callable[[int], int]) -> bool:
    """Return whether the number with these binary digits is below `probability`, reading no more than needed."""
    known, open_range, count = Fraction(0), Fraction(1), 0
    while True:
        if known + open_range <= probability:
            return True
        if known >= probability:
            return False
        open_range /= 2
        known += open_range * digit(count)
        count += 1


def draw_below(root: int, trial: int, a: int, b: int, bound: int, fork: int | None = None) -> int:
    """Return draw (a, b) of a trial; a fork of the trial's key, by number, has draws of its own."""
    key = fold(fold(root, DRAWS), trial)
    if fork is not None:
        key = fold(key, fork)
    return int(float(mix(place(a, b) ^ key) >> 11) * 2.0**-53 * bound)


# --- the oracles -----------------------------------------------------------------------------------------------------


def uniform_probabilities(n: int, p: float) -> Probabilities:
    return [[p if low == 0 else 0.5 for _ in range(n)] for low in range(n)]


def similarity_probabilities(r: Sequence[float]) -> Probabilities:
    return [[own / (own + other) if own + other > 0 else 0.5 for other in r] for own in r]


def random_tournament(probabilities: Probabilities, seed: int, trial: int) -> LowWins:
    """Return the answers of one trial when the lower class of {low, high} wins with probabilities[low][high]."""
    root = stream(seed, len(probabilities))

    def low_wins(low: int, high: int) -> bool:
        return is_below(Fraction(probabilities[low][high]), lambda digit: answer_digit(root, trial, low, high, digit))

    return low_wins


def ranked_tournament(n: int, p: float, order: float, difficulty: float, seed: int, trial: int) -> LowWins:
    """Return the answers of one trial of the ranked oracle: the sign of a margin that is strengths and noise."""
    root = stream(seed, n)
    word = fold(fold(root, ANSWERS), trial // 64)
    normal = NormalDist()

    def strength(c: int) -> float:
        bits = mix(place(c, 0) ^ fold(word, 2**32 + trial % 64)) >> 12
        return normal.inv_cdf((bits + 0.5) / 2**52)

    def probability_above(signal: float, noise: float) -> float:
        if noise == 0:
            return float(signal > 0)
        return math.erfc(-signal / noise / math.sqrt(2)) / 2

    def probability(low: int, high: int) -> float:
        if low > 0:
            gap = strength(low) - strength(high)
            return probability_above(math.sqrt(order / 2) * gap, math.sqrt(1 - order)) if order else 0.5
        if order == difficulty == 0 or p in {0, 1}:
            return p
        rivals = (order / 2) / (1 - order / 2)
        common = normal.inv_cdf(p) + math.sqrt(difficulty) * strength(0)
        signal = common - math.sqrt((1 - difficulty) * rivals) * strength(high)
        return probability_above(signal, math.sqrt((1 - difficulty) * (1 - rivals)))

    def low_wins(low: int, high: int) -> bool:
        return is_below(Fraction(probability(low, high)), lambda digit: answer_digit(root, trial, low, high, digit))

    return low_wins


def recorded_tournament(n: int, row: Sequence[bool]) -> LowWins:
    """Return the answers of one recorded row, whose pairs are in the order (0,1) (0,2) ... (1,2) ..."""
    pairs = [(low, high) for low in range(n) for high in range(low + 1, n)]
    return lambda low, high: bool(row[pairs.index((low, high))])


# --- the decoders ----------------------------------------------------------------------------------------------------


class Judge:
    """Answers queries about one tournament and keeps the bill."""

    def __init__(self, low_wins: LowWins) -> None:
        self.low_wins = low_wins
        self.queries = 0
        self.rounds = 0
        self.pairs: set[tuple[int, int]] = set()
        self.round_is_open = False

    def beats(self, i: int, j: int) -> bool:
        low, high = min(i, j), max(i, j)
        self.queries += 1
        self.pairs.add((low, high))
        self.round_is_open = True
        return self.low_wins(low, high) == (i == low)

    def close_round(self) -> None:
        """End a round; one without queries was never waited for and does not count."""
        if self.round_is_open:
            self.rounds += 1
        self.round_is_open = False


def sample_size(l: int | str, n: int) -> int:
    """Return l, or for "clog" the smallest m with m >= c log2 n, that is (2**m)**denominator >= n**numerator."""
    if isinstance(l, int):
        return l
    factor = Fraction(l.removesuffix("log") or "1")
    size = 0
    while 2 ** (size * factor.denominator) < n**factor.numerator:
        size += 1
    return size


def settle(scores: dict[int, int], ties: str, draw: Draw, who: int) -> int:
    """Name the class with the highest score, -1 for nobody; `scores` is in class order."""
    if not scores:
        return -1
    tied = [c for c in scores if scores[c] == max(scores.values())]
    if len(tied) == 1 or ties == "first":
        return tied[0]
    return -1 if ties == "lose" else tied[draw(WINNER_DRAW, who, len(tied))]


def list_order(n: int, order: str, draw: Draw) -> list[int]:
    classes = list(range(n))
    if order == "random":
        for c in range(n - 1, 0, -1):
            other = draw(c, 0, c + 1)
            classes[c], classes[other] = classes[other], classes[c]
    return classes


def max_win(judge: Judge, n: int, draw: Draw, ties: str) -> int:
    scores = dict.fromkeys(range(n), 0)
    for i in range(n):
        for j in range(i + 1, n):
            scores[i if judge.beats(i, j) else j] += 1
    judge.close_round()
    return settle(scores, ties, draw, 0)


def sampled_scores(judge: Judge, n: int, draw: Draw, l: int | str) -> dict[int, int]:
    scores = dict.fromkeys(range(n), 0)
    for i in range(n):
        for m in range(sample_size(l, n)):
            j = draw(i, m, n - 1)
            opponent = j if j < i else j + 1
            scores[i] += judge.beats(i, opponent)
    judge.close_round()
    return scores


def poll(judge: Judge, n: int, draw: Draw, l: int | str, ties: str) -> int:
    return settle(sampled_scores(judge, n, draw, l), ties, draw, 1)


def cut(scores: dict[int, int], k: int, ties: str, draw: Draw) -> list[int]:
    """Return, in class order, the classes that come through the poll."""
    bar = sorted(scores.values(), reverse=True)[k - 1]
    above = [c for c in scores if scores[c] > bar]
    at_bar = [c for c in scores if scores[c] == bar]
    open_places = k - len(above)
    if ties == "lose":
        taken = at_bar if len(at_bar) <= open_places else []
    elif ties == "first":
        taken = at_bar[:open_places]
    else:
        taken = []
        for looked_at, c in enumerate(at_bar):
            still_open = open_places - len(taken)
            if still_open > 0 and draw(CUT_DRAW, c, len(at_bar) - looked_at) < still_open:
                taken.append(c)
    return sorted(above + taken)


def top_k(judge: Judge, n: int, draw: Draw, k: int, l: int | str, final: str, ties: str) -> int:
    candidates = cut(sampled_scores(judge, n, draw, l), k, ties, draw)
    scores = dict.fromkeys(candidates, 0)
    if final == "rescore":
        for i in candidates:
            for j in range(n):
                scores[i] += j != i and judge.beats(i, j)
    else:
        for i in candidates:
            for j in candidates:
                if i < j:
                    scores[i if judge.beats(i, j) else j] += 1
    judge.close_round()
    return settle(scores, ties, draw, 2)


def ddag(judge: Judge, n: int, draw: Draw, order: str) -> int:
    classes = list_order(n, order, draw)
    while len(classes) > 1:
        loser = classes[-1] if judge.beats(classes[0], classes[-1]) else classes[0]
        classes.remove(loser)
        judge.close_round()
    return classes[0]


def adag(judge: Judge, n: int, draw: Draw, order: str) -> int:
    classes = list_order(n, order, draw)
    while len(classes) > 1:
        half = len(classes) // 2
        games = [(classes[place], classes[-1 - place]) for place in range(half)]
        middle = classes[half : len(classes) - half]
        classes = [i if judge.beats(i, j) else j for i, j in games] + middle
        judge.close_round()
    return classes[0]


def radag_cost(errors: Sequence[float], n: int, i: int, j: int) -> int:
    """Return the cost of a game: its error in parts of 2**34 of the largest one, then the pair's own preference."""
    pairs = [(low, high) for low in range(n) for high in range(low + 1, n)]
    low, high = min(i, j), max(i, j)
    share = errors[pairs.index((low, high))] / max(errors)
    return round(share * 2**34) * 2**20 + (mix(place(low, high)) >> 44)


def radag(judge: Judge, n: int, draw: Draw, errors: Sequence[float] | None) -> int:
    if errors is None or len(set(errors)) == 1:
        return adag(judge, n, draw, "random")
    cost = functools.cache(functools.partial(radag_cost, tuple(errors), n))
    classes, had_a_bye = list(range(n)), None
    while len(classes) > 1:
        opponents = pair_up_naively(classes, cost, had_a_bye)
        games = [(i, opponents[i]) for i in classes if classes.index(opponents[i]) > classes.index(i)]
        left_over = [i for i in classes if opponents[i] == i]
        had_a_bye = left_over[0] if left_over else None
        classes = [i if judge.beats(i, j) else j for i, j in games] + left_over
        judge.close_round()
    return classes[0]


class Games:
    """Every game of a trial so far: whom each class has met, and how often it lost."""

    def __init__(self, judge: Judge, n: int, budget: int | None = None) -> None:
        self.judge = judge
        self.left = n * n if budget is None else budget
        self.games = [0] * n
        self.met: list[set[int]] = [set() for _ in range(n)]
        self.losses = [0] * n

    def beats(self, i: int, j: int) -> bool:
        assert j not in self.met[i], "no pair is asked twice"
        if self.left == 0:
            raise SpentError
        self.left -= 1
        self.games[i] += 1
        self.games[j] += 1
        self.met[i].add(j)
        self.met[j].add(i)
        i_wins = self.judge.beats(i, j)
        self.losses[j if i_wins else i] += 1
        return i_wins


class SpentError(Exception):
    """The budget of a decoder is spent."""


def play_on(games: Games, n: int, draw: Draw, ties: str, order: str, at_once: int) -> int:
    """Let those with the fewest losses play until max-win's winner is known; `at_once` of them in a round.

    Among equals the first in the list of classes plays; the rule "first" looks at class numbers, and so does its list.
    """
    listed = list_order(n, "given" if ties == "first" else order, draw)
    while True:
        losses = list(games.losses)
        leaders = [c for c in listed if losses[c] == min(losses)]
        finished = [c for c in leaders if len(games.met[c]) == n - 1]
        if ties == "any" and finished:
            return finished[0]
        if ties == "lose" and len(finished) > 1:
            return -1
        if finished == leaders or (ties == "first" and leaders[0] in finished):
            return settle({c: -losses[c] for c in range(n)}, ties, draw, 0)
        asked: list[tuple[int, int]] = []
        for leader in [c for c in leaders if c not in finished][:at_once]:
            taken = {leader, *games.met[leader], *(i for i, j in asked if j == leader)}
            opponents = [c for c in listed if c not in taken]
            if opponents:
                asked.append((leader, min(opponents, key=lambda c: losses[c])))
        for leader, opponent in asked:
            games.beats(leader, opponent)
        games.judge.close_round()


def best_so_far(games: Games, n: int, draw: Draw, ties: str) -> int:
    """Return who has won most games more than it has lost."""
    ahead = {c: (games.games[c] - games.losses[c]) - games.losses[c] for c in range(n)}
    return settle(ahead, "random" if ties == "any" else ties, draw, 0)


def quick(judge: Judge, n: int, draw: Draw, ties: str, order: str, budget: int | None = None) -> int:
    games = Games(judge, n, budget)
    try:
        return play_on(games, n, draw, ties, order, at_once=1)
    except SpentError:
        return best_so_far(games, n, draw, ties)


def champion(judge: Judge, n: int, draw: Draw, ties: str, order: str, budget: int | None = None) -> int:
    games = Games(judge, n, budget)
    try:
        return prove_winner(games, n, draw, ties, order)
    except SpentError:
        judge.close_round()
        return best_so_far(games, n, draw, ties)


def prove_winner(games: Games, n: int, draw: Draw, ties: str, order: str) -> int:
    judge = games.judge
    classes = list_order(n, order, draw)
    while len(classes) > 1:
        half = len(classes) // 2
        pairs = [(classes[place], classes[-1 - place]) for place in range(half)]
        middle = classes[half : len(classes) - half]
        classes = [i if games.beats(i, j) else j for i, j in pairs] + middle
        judge.close_round()
    for c in list_order(n, "given" if ties == "first" else order, draw):  # which matters where the budget ends it
        if c != classes[0] and c not in games.met[classes[0]]:
            games.beats(classes[0], c)
    judge.close_round()
    return play_on(games, n, draw, ties, order, at_once=math.isqrt(n))


def halving(judge: Judge, n: int, draw: Draw, l: int | str, ties: str) -> int:
    alive, planned, asked, number = list(range(n)), n, 0, 0
    wins = dict.fromkeys(alive, 0)
    while len(alive) > 1:
        more = math.isqrt(sample_size(l, n) ** 2 * n // planned)  # l times the root of n / planned, rounded down
        if more >= n - 1:
            scores = {i: sum(judge.beats(i, j) for j in range(n) if j != i) for i in alive}
            judge.close_round()
            return settle(scores, ties, draw, 3)
        for i in alive:
            for m in range(asked, asked + more):
                j = draw(i, m, n - 1)
                wins[i] += judge.beats(i, j if j < i else j + 1)
        judge.close_round()
        by_place = {place: wins[i] for place, i in enumerate(alive)}
        fork = number
        stay = cut(by_place, (len(alive) + 1) // 2, ties, lambda a, b, bound, fork=fork: draw(a, b, bound, fork))
        alive, planned = [alive[place] for place in stay], (planned + 1) // 2
        asked, number = asked + more, number + 1
    return alive[0] if alive else -1


def record_evidence(p: float | None, wins: int, losses: int) -> float:
    """Return the logarithm of the probability of a record for the true class, over that for a class of coin flips."""
    if p is not None:
        return wins * math.log(2.0 * p) + losses * math.log(2.0 * (1.0 - p))
    # p uniform on (1/2, 1): twice the integral of p^w (1 - p)^l, an alternating sum of exact fractions
    integral = sum(
        (-1) ** k * math.comb(losses, k) * (1 - Fraction(1, 2 ** (wins + k + 1))) / (wins + k + 1)
        for k in range(losses + 1)
    )
    return math.log(2 ** (wins + losses + 1) * integral)


def posterior_in_rounds(judge: Judge, labels: list[int], p: float | None, stop: float, budget: int, rounds: int) -> int:
    n = len(labels)
    wins, losses, met = [0] * n, [0] * n, set[frozenset[int]]()
    assumed = 0.75 if p is None else p
    information = assumed * math.log(2.0 * assumed) + (1.0 - assumed) * math.log(2.0 * (1.0 - assumed))
    surest = min(stop, 0.9999)
    share = 0.008 * max(math.log(n * surest / (1.0 - surest)), 0.0) ** 2 / information
    for left in range(rounds, -1, -1):
        logs = [record_evidence(p, wins[c], losses[c]) for c in range(n)]
        ranking = sorted(range(n), key=lambda c: (-logs[c], wins[c] + losses[c] > 0, c))
        best = ranking[0]
        others = math.fsum(math.exp(logs[c]) for c in ranking[1:])
        if left == 0 or (1.0 - stop) * math.exp(logs[best]) * (1.0 + 1e-12) >= stop * others:
            break
        alive = [c for c in ranking if logs[c] >= logs[best] - (2.0 + 9.0 / rounds)]
        a = len(alive)
        growth = [a ** (k / (2.0 * left)) for k in range(left)]  # of the games from round to round
        missing = math.inf if stop == 1.0 else math.log(max(stop / (1.0 - stop) * others / math.exp(logs[best]), 1.0))
        needed = missing * 1.5 / information / sum(growth)
        affordable = (budget - len(met)) / sum(1.0 / g for g in growth)
        usual = share * math.sqrt(n / a)
        wanted = max(usual, needed)
        if 0.1 * usual > 2.0 * affordable / a:
            a = min(a, max(2, math.floor((2.0 * affordable / (0.1 * share)) ** 2 / n * (1.0 + 1e-12))))
        wanted = min(wanted, 2.0 * affordable / a, n - 1)
        wanted = max(1, math.floor(wanted * (1.0 + 1e-12)))
        last = min(budget, len(met) + max(1, math.floor(affordable * (1.0 + 1e-12))))
        games, scheduled = [], [0] * n
        for place, i in enumerate(alive[:a]):
            for j in ranking[place + 1 :]:
                if len(met) < last and max(scheduled[i], scheduled[j]) < wanted and frozenset((i, j)) not in met:
                    met.add(frozenset((i, j)))
                    games.append((i, j))
                    scheduled[i] += 1
                    scheduled[j] += 1
        if not games:
            break
        for i, j in games:
            won = judge.beats(labels[i], labels[j])
            wins[i], losses[i] = wins[i] + won, losses[i] + (not won)
            wins[j], losses[j] = wins[j] + (not won), losses[j] + won
        judge.close_round()
    return labels[best]


def posterior(
    judge: Judge, n: int, draw: Draw, p: float | None, stop: float, budget: int | None, rounds: int | None
) -> int:
    labels = list_order(n, "random", draw)
    if rounds is not None:
        pairs = n * (n - 1) // 2
        return posterior_in_rounds(judge, labels, p, stop, min(pairs, budget or pairs), rounds)
    wins, losses, met = [0] * n, [0] * n, set[tuple[int, int]]()
    since = [-1] * n  # when a class last came back among the others: the last one comes first among equals
    clock = itertools.count()
    leader, most = 0, n * (n - 1) // 2 if budget is None else budget

    def evidence(c: int) -> float:
        return record_evidence(p, wins[c], losses[c])

    def rank(c: int) -> tuple[float, int, int]:
        return -evidence(c), -since[c], c

    def is_open(c: int) -> bool:
        return wins[c] + losses[c] < n - 1

    for _ in range(most):
        highest = max(map(evidence, range(n)))
        weights = sorted(math.exp(evidence(c) - highest) for c in range(n))
        if (1.0 - stop) * weights[-1] * (1.0 + 1e-12) >= stop * math.fsum(weights[:-1]):
            break
        unmet = [c for c in range(n) if c != leader and (leader, c) not in met]
        if not unmet:
            break
        challenger = min(unmet, key=rank)
        won = judge.beats(labels[leader], labels[challenger])
        judge.close_round()
        met |= {(leader, challenger), (challenger, leader)}
        wins[leader] += won
        losses[challenger] += won
        losses[leader] += not won
        wins[challenger] += not won
        since[challenger] = next(clock)
        others = [c for c in range(n) if c != leader and is_open(c)]
        if others:
            best = min(others, key=rank)
            if not is_open(leader) or (not won and evidence(best) > evidence(leader)):
                since[leader] = next(clock)
                leader = best
    full = [c for c in range(n) if not is_open(c) and c != leader]
    best = min(full, key=rank, default=leader)
    return labels[best if evidence(best) > evidence(leader) else leader]


def learned(
    judge: Judge, n: int, draw: Draw, answers: Any, weight: float | None, lead: float, budget: int | None
) -> int:
    """Weigh every answer for every class; `answers` holds the tables that were learned."""
    pairs = [(low, high) for low in range(n) for high in range(low + 1, n)]
    labels = list(range(n)) if answers else list_order(n, "random", draw)
    profiles = [(c, 0.0) for c in range(n)]  # (class, evidence)
    opening: list[tuple[int, int]] = []
    if answers:
        starts = answers.tables.starts.tolist()
        owners = [c for c in range(n) for _ in range(starts[c], starts[c + 1])]
        profiles = list(zip(owners, answers.tables.prior.tolist(), strict=True))
        opening = [pairs[q] for q in answers.tables.opening.tolist()]
    share = weight or min(8 / n, 0.5)

    def gain(k: int, low: int, high: int, low_won: bool) -> float:
        owner = profiles[k][0]
        if not answers:
            return 0.0 if owner not in (low, high) else math.log(1.8 if (owner == low) == low_won else 0.2)
        level = int(answers.tables.levels[pairs.index((low, high)), k]) * math.log(1 / 1e-4 - 1) / 127
        chance = 1 / (1 + math.exp(-level))
        told = math.log(chance) if low_won else math.log1p(-chance)
        return float(struct.unpack("f", struct.pack("f", told if owner in (low, high) else share * told))[0])

    met: set[tuple[int, int]] = set()
    node, asked = 0, 0
    most = min(len(pairs), 5 * (n - 1) // 4 if budget is None else budget)
    while True:
        best = [max(value for owner, value in profiles if owner == c) for c in range(n)]
        ranked = sorted(range(n), key=lambda c: -best[c])
        if (asked and best[ranked[0]] - best[ranked[1]] >= lead) or asked == most:
            return labels[ranked[0]]
        if node < len(opening):
            low, high = opening[node]
        else:
            unmet = {c: [d for d in ranked if d != c and (min(c, d), max(c, d)) not in met] for c in ranked}
            first = next((c for c in ranked if unmet[c]), None)
            if first is None:
                return labels[ranked[0]]
            low, high = sorted((first, unmet[first][0]))
        low_won = judge.beats(labels[low], labels[high])
        judge.close_round()
        asked += 1
        node = 2 * node + 1 + low_won if node < len(opening) else node
        met.add((low, high))
        profiles = [(owner, value + gain(k, low, high, low_won)) for k, (owner, value) in enumerate(profiles)]


DECODERS: dict[str, Callable[..., int]] = {
    "max-win": max_win,
    "poll": poll,
    "top-k": top_k,
    "ddag": ddag,
    "adag": adag,
    "radag": radag,
    "quick": quick,
    "champion": champion,
    "halving": halving,
    "posterior": posterior,
    "learned": learned,
}


class Decision(NamedTuple):
    """Who was named in one trial (-1 for nobody), and the bill."""

    winner: int
    queries: int
    distinct: int
    rounds: int


def draws_of(seed: int, n: int, trial: int) -> Draw:
    root = stream(seed, n)
    return lambda a, b, bound, fork=None: draw_below(root, trial, a, b, bound, fork)


def decide(name: str, options: dict[str, object], n: int, low_wins: LowWins, seed: int, trial: int) -> Decision:
    """Decode one tournament with the twin of decoder `name`, whose fields are `options`."""
    judge = Judge(low_wins)
    winner = DECODERS[name](judge, n, draws_of(seed, n, trial), **options)
    return Decision(winner, judge.queries, len(judge.pairs), judge.rounds)


def decide_renumbered(
    name: str, options: dict[str, object], n: int, low_wins: LowWins, seed: int, trial: int
) -> Decision:
    """Decode one tournament with the classes numbered by a draw of their own: number k is class classes[k]."""
    draw = draws_of(seed, n, trial)
    classes = list_order(n, "random", lambda a, b, bound: draw(a, b, bound, LABELS_FORK))

    def low_number_wins(low: int, high: int) -> bool:
        i, j = classes[low], classes[high]
        return low_wins(i, j) if i < j else not low_wins(j, i)

    decision = decide(name, options, n, low_number_wins, seed, trial)
    return decision if decision.winner < 0 else decision._replace(winner=classes[decision.winner])


def bill(decisions: Iterable[Decision]) -> tuple[int, int, int]:
    """Return the sums of queries, distinct and rounds."""
    costs = [decision[1:] for decision in decisions]
    return sum(p[0] for p in costs), sum(p[1] for p in costs), sum(p[2] for p in costs)
