"""max-win given the games among the wrong classes: three numbers decide, so all p of a sweep share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import MaxWin
from pairsim.kernels.bits import SLAB_TRIALS
from pairsim.kernels.conditional_max_win import max_win_failures, max_win_probabilities
from pairsim.kernels.top_scores import name_winners
from pairsim.oracles import Oracle
from pairsim.simulation.conditional.base import CONDITIONAL, WRONG_GAMES, ConditionalMethod
from pairsim.simulation.conditional.tables import class_zero_scores

if TYPE_CHECKING:
    from pairsim.simulation.outcomes import Outcomes
    from pairsim.simulation.slab import SlabTrials, Trials, WrongGames


@CONDITIONAL.register(MaxWin)
class MaxWinGivenWrongGames(ConditionalMethod):
    """Under uniform-p class 0's score is independent of the others' games, so its probability is a sum over scores."""

    given: ClassVar[str] = WRONG_GAMES
    counts_scores: ClassVar[bool] = True

    def applies(self, oracle: Oracle, decoder: MaxWin) -> bool:
        return oracle.uniform and super().applies(oracle, decoder)

    def names(self, trials: SlabTrials, decoder: MaxWin, named: NDArray[np.int64]) -> bool:
        workspace, rule = trials.workspace, decoder.kernel(trials.n).ties
        full = trials.full
        name_winners(
            full, trials.n, rule, trials.stream, trials.first, *workspace.tops, *workspace.ties, workspace.winners
        )
        named[:] = workspace.winners[: trials.count]
        return True

    def write(self, trials: Trials, decoder: MaxWin, out: Outcomes) -> None:
        wrong = trials.wrong_games
        by_top = wrong.kept(("max-win", decoder.ties), lambda: _fail_by_top(wrong, decoder))
        max_win_failures(*class_zero_scores(trials.n, trials.oracle.p or 0.0), *by_top, out.failed)


def _fail_by_top(wrong: WrongGames, decoder: MaxWin) -> tuple[Any, ...]:
    """Return the others' top score M, and the probabilities to fail at a score of M and of M + 1."""
    heights, at_top, below_top = wrong.top
    fail_at, fail_above = np.empty((2, SLAB_TRIALS))
    max_win_probabilities(wrong.n, decoder.kernel(wrong.n).ties, heights, at_top, below_top, fail_at, fail_above)
    return heights, fail_at, fail_above
