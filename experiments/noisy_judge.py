"""The best of n candidates by an expensive, biased judge within a budget of calls, and how likely that is right.

    python -m experiments.noisy_judge [--candidates 24] [--calls 400] [--repeats 200]

The judge (here a simulated one; in life a person or a slow model) is shown two candidates and says which is better. It
errs more the closer they are, it favours the one that it is shown first, and sometimes it says nothing. So every
query is put in both orders; silence and contradiction are settled by a coin. What is left is an unreliable pairwise
answer without a side, whose probabilities are known once the judge is: `pairsim.plan` finds the decoder that makes the
most of the budget, `Session` runs it in batches, and the plan's probability goes with the answer.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from pairsim import Matrix, ParameterError, Session, plan
from pairsim.planning import Option

CALLS_A_QUESTION = 2  # both orders


@dataclasses.dataclass(frozen=True)
class Judge:
    """A simulated judge: how sharp it is, how much it favours what it sees first (both in log odds), how often silent.

    The better of two candidates whose qualities differ by d is named with odds exp(sharpness * d), times exp(favour)
    when it is shown first.
    """

    sharpness: float = 3.0
    favour: float = 1.0
    silence: float = 0.1

    def compare(self, first: float, second: float, rng: random.Random) -> bool | None:
        """Return whether the judge prefers the candidate that it is shown first; None when it says nothing."""
        if rng.random() < self.silence:
            return None
        return rng.random() < float(expit(self.sharpness * (first - second) + self.favour))

    def probabilities(self, quality: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that i wins query {i, j} once both orders were asked and coins settled the rest.

        With a and b the probabilities of i in the two orders, silence settled, i wins by agreement with a b, and else
        by the coin with half of a (1 - b) + (1 - a) b: together the mean of a and b.
        """
        gap = self.sharpness * (quality[:, None] - quality[None, :])
        spoken = (expit(gap + self.favour) + expit(gap - self.favour)) / 2.0
        return np.asarray((1.0 - self.silence) * spoken + self.silence / 2.0)


class Answer(NamedTuple):
    """The candidate that was picked, the probability that it is the best, and what it cost."""

    winner: int
    probability: float
    calls: int
    batches: int


def qualities(n: int) -> NDArray[np.float64]:
    """Return n qualities, best first, that spread like a sample from a normal law."""
    return np.asarray(norm.ppf((np.arange(n, 0, -1) - 0.5) / n))


def choose_decoder(judge: Judge, n: int, calls: int, seed: int = 0) -> Option:
    """Return the decoder with the highest success probability within the budget.

    The spread of the qualities and the judge are known, for example from earlier rounds; who is who is not.
    """
    probabilities = judge.probabilities(qualities(n))
    np.fill_diagonal(probabilities, 0.5)
    model = Matrix(probabilities)
    try:
        return plan(model, max_queries=calls // CALLS_A_QUESTION, seed=seed).options[0]
    except ParameterError:
        raise SystemExit(f"{calls} calls are too few to find the best of {n} candidates") from None


def ask_both_orders(judge: Judge, i: float, j: float, rng: random.Random) -> bool:
    """Return whether i wins against j: both orders, a coin for silence and for contradiction."""

    def or_coin(said: bool | None) -> bool:
        return rng.random() < 0.5 if said is None else said

    i_first, j_first = or_coin(judge.compare(i, j, rng)), or_coin(judge.compare(j, i, rng))
    return i_first if i_first != j_first else rng.random() < 0.5


def pick_best(judge: Judge, quality: NDArray[np.float64], option: Option, rng: random.Random) -> Answer:
    """Run the chosen decoder in batches on candidates of these qualities, which only the judge sees."""
    session = Session(len(quality), option.decoder, seed=rng.randrange(2**32))
    calls = batches = 0
    while not session.done:
        batch = session.ask()  # everything in it can be asked at once
        for i, j in batch:
            session.tell(i, j, ask_both_orders(judge, quality[i], quality[j], rng))
        calls += CALLS_A_QUESTION * len(batch)
        batches += 1
    winner = session.winner
    if winner is None:  # a decoder whose ties name nobody
        raise SystemExit(f"{option.decoder.spec} named nobody")
    return Answer(winner, option.success, calls, batches)


def at_least(least: int) -> Callable[[str], int]:
    """Return what reads an integer for argparse, this large or larger."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be an integer, at least {least}, not {text!r}")
        return int(text)

    return read


def main() -> None:
    """Plan once, pick once, then repeat to see whether the promise holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=at_least(2), default=24)
    parser.add_argument("--calls", type=at_least(0), default=400, help="what may be spent on one decision")
    parser.add_argument("--repeats", type=at_least(1), default=200, help="decisions to check the promise by")
    parser.add_argument("--seed", type=at_least(0), default=0)
    chosen = parser.parse_args()
    judge, rng = Judge(), random.Random(chosen.seed)
    option = choose_decoder(judge, chosen.candidates, chosen.calls, chosen.seed)
    print(f"for {chosen.calls} calls: {option.decoder.spec}, right with probability {option.success:.3f}", end=" ")
    print(f"({option.low:.3f} .. {option.high:.3f}, {option.method})")
    right = calls = 0
    for repeat in range(chosen.repeats):
        order = np.array(rng.sample(range(chosen.candidates), chosen.candidates))  # who is who
        answer = pick_best(judge, qualities(chosen.candidates)[order], option, rng)
        right += order[answer.winner] == 0
        calls = max(calls, answer.calls)
        if repeat == 0:
            verdict = "is" if order[answer.winner] == 0 else "is not"
            print(f"picked candidate {answer.winner} in {answer.batches} batches, {answer.calls} calls;", end=" ")
            print(f"it {verdict} the best")
    print(f"{chosen.repeats} decisions: {right / chosen.repeats:.3f} right, at most {calls} calls")


if __name__ == "__main__":
    main()
