"""The claims of the POLL paper, each read from our tables."""

from __future__ import annotations

import itertools
from typing import Any

from experiments.judging import Claim, Found, Tables, at_most, below, interval, number, opposite, span, within

CLOSE = 0.02  # in success: what we take "close" and "not much" to mean
FIVE = "poll:l=5log"


def _curves(tables: Tables) -> dict[tuple[int, float, str], Any]:
    rows = tables("poll_curves")
    return {(row.n, row.p, row.decoder): row for row in rows.itertuples()}


def _places(curves: dict[tuple[int, float, str], Any]) -> list[tuple[int, float]]:
    return sorted({(n, p) for n, p, _ in curves}, key=lambda place: (-place[1], place[0]))


def _pairs(tables: Tables, better: str, worse: tuple[str, ...]) -> Found:
    curves = _curves(tables)
    checks = [
        below(interval(curves[n, p, one]), interval(curves[n, p, better])) for n, p in _places(curves) for one in worse
    ]
    return Found(checks, f"{len(checks)} pairs of curves at the same n and p; see figures/poll_figure_1 and _2")


def larger_samples(tables: Tables) -> Found:
    """Judge whether each larger l succeeds more often."""
    curves, checks = _curves(tables), []
    for (n, p), (less, more) in itertools.product(_places(curves), itertools.pairwise(("log", "3log", "5log"))):
        checks.append(below(interval(curves[n, p, f"poll:l={less}"]), interval(curves[n, p, f"poll:l={more}"])))
    return Found(checks, f"{len(checks)} steps from l to the next larger one")


def _behind_max_win(tables: Tables, p: float) -> tuple[list[bool | None], str]:
    curves = _curves(tables)
    checks, gaps = [], {}
    for n in sorted({n for n, at in _places(curves) if at == p}):
        poll, best = curves[n, p, FIVE], curves[n, p, "max-win"]
        checks.append(at_most((best.low - poll.high, best.high - poll.low), CLOSE))
        gaps[n] = best.success - poll.success
    first, last = min(gaps), max(gaps)
    return checks, f"max-win less poll: {gaps[first]:.3f} at n = {first}, {gaps[last]:.3f} at n = {last}"


def close_at_09(tables: Tables) -> Found:
    """Judge whether polls of 5 log n are close to max-win at p = 0.9."""
    return Found(*_behind_max_win(tables, 0.9))


def too_small_at_07(tables: Tables) -> Found:
    """Judge whether 5 log n is too small at p = 0.7."""
    checks, told = _behind_max_win(tables, 0.7)
    return Found([opposite(each) for each in checks], told)


def cascades_fall(tables: Tables) -> Found:
    """Judge whether ddag and adag fall from each n of figure 2 to the next."""
    rows = tables("poll_curves")
    rows = rows[rows.figure == "poll_figure_2"]
    checks = []
    ends = []
    for (name, p), part in rows[rows.decoder.isin(["adag", "ddag"])].groupby(["decoder", "p"]):
        ordered = list(part.sort_values("n").itertuples())
        checks += [below(interval(after), interval(before)) for before, after in itertools.pairwise(ordered)]
        ends.append(f"{name}, p = {p}: {ordered[0].success:.3f} to {ordered[-1].success:.3f}")
    return Found(checks, f"n = {rows.n.min()} to {rows.n.max()}; " + "; ".join(ends))


def formula(tables: Tables, name: str) -> Found:
    """Judge a printed formula by simulations."""
    rows = tables("poll_formulas")
    rows = rows[rows.decoder == name]
    checks = [within(row.printed, row.low, row.high) for row in rows.itertuples()]
    off = (rows.printed - rows.success).abs().max()
    return Found(checks, f"at most {number(off)} from {rows.trials.iloc[0]:,} simulated trials (99.9% intervals)")


def _sizes(tables: Tables, p: float) -> Any:
    rows = tables("poll_sample_sizes")
    return rows[rows.p == p]


def theorem_2(tables: Tables) -> Found:
    """Judge whether Theorem 2's l reaches what it promises: what is certified with less is reached."""
    rows = _sizes(tables, 0.9).dropna(subset="certified_l")
    ratios = rows.theorem_2_printed / rows.certified_l
    checks: list[bool | None] = [
        True if row.certified_l <= row.theorem_2_printed else None for row in rows.itertuples()
    ]
    told = f"l = {span(rows.certified_l)} is certified for n = {rows.n.min()} to {rows.n.max():,}, "
    return Found(checks, told + f"{span(ratios)} times less than Theorem 2's")


def five_log(tables: Tables) -> Found:
    """Judge whether 5 log n gives a failure of 1/n at p = 0.9."""
    rows = _sizes(tables, 0.9)
    checks = [at_most((row.five_log_low, row.five_log_high), row.target) for row in rows.itertuples()]
    ratios = rows.five_log_high / rows.target
    needed = (rows.certified_l / rows.log2_n).dropna()
    told = f"the failure is {span(ratios)} times 1/n for n = {rows.n.min()} to {rows.n.max():,}"
    return Found(checks, f"{told} (certified); {span(needed)} log n suffice")


def tends_to_one(tables: Tables) -> Found:
    """Judge whether the failure at 5 log n falls from each n to the next."""
    checks: list[bool | None] = []
    told = []
    for p in (0.9, 0.7):
        rows = list(_sizes(tables, p).itertuples())
        for before, after in itertools.pairwise(rows):
            checks.append(below(interval(after, "five_log"), interval(before, "five_log")))
        first, last = rows[0], rows[-1]
        told.append(f"p = {p}: failure {number(first.five_log_high)} at n = {first.n}, ")
        told[-1] += f"{number(last.five_log_high)} at n = {last.n:,}"
    return Found(checks, "; ".join(told))


def separated(tables: Tables) -> Found:
    """Judge whether most instances are 2p-separated at p = 0.9."""
    rows = tables("poll_separation")
    rows = rows[rows.p == 0.9]
    checks = [opposite(at_most(interval(row), 0.5)) for row in rows.itertuples()]
    first, last = rows.iloc[0], rows.iloc[-1]
    told = (
        f"share {first.share:.4f} ({first.low:.4f} to {first.high:.4f}) at n = {first.n}, at most {last.high:.4f} at "
    )
    return Found(checks, told + f"n = {last.n}; the median separation rises from {first.q50:.2f} to {last.q50:.2f}")


def theorem_3(tables: Tables) -> Found:
    """Judge whether instances are as clear-cut as the corrected Theorem 3 proves."""
    rows = tables("poll_separation")
    checks: list[bool | None] = [
        row.reached_high >= row.theorem_3_share if row.theorem_3_share > 0.0 else None for row in rows.itertuples()
    ]
    last = rows.sort_values(["theorem_3_share", "n"]).iloc[-1]
    said = (
        f"the proven share is above 0 from n = {number(rows[rows.theorem_3_share > 0.0].n.min())}; n = {last.n:.0f}, "
    )
    told = f"p = {last.p}: {last.theorem_3_share:.3f} are proven to be {last.theorem_3_alpha:.2f}-separated, "
    return Found(checks, f"{said}{told}{last.reached_low:.4f} or more are")


def _gain(tables: Tables) -> Any:
    return tables("poll_top_k")


def usual_gain(tables: Tables) -> Found:
    """Judge whether rescoring gains 2 to 10 points where the poll is not close to 1."""
    rows = _gain(tables)
    rows = rows[rows.poll_low <= 1.0 - CLOSE]
    checks: list[bool | None] = []
    for row in rows.itertuples():
        above, beneath = row.gain_low > 0.10, row.gain_high < 0.02
        inside = row.gain_low >= 0.02 and row.gain_high <= 0.10
        checks.append(False if above or beneath else True if inside else None)
    more, less = (rows.gain_low > 0.10).sum(), (rows.gain_high < 0.02).sum()
    return Found(
        checks, f"{span(100 * rows.gain)} points; more than 10 in {more} of {len(rows)} cases, under 2 in {less}"
    )


def little_gain_near_one(tables: Tables) -> Found:
    """Judge whether rescoring gains little where the poll is close to 1."""
    rows = _gain(tables)
    rows = rows[rows.poll_low > 1.0 - CLOSE]
    checks = [at_most(interval(row, "gain"), CLOSE) for row in rows.itertuples()]
    return Found(checks, f"{span(100 * rows.gain)} points where the poll succeeds with more than {1 - CLOSE:g}")


def rescoring_is_better(tables: Tables) -> Found:
    """Judge whether rescoring beats max-win among the k."""
    rows = _gain(tables)
    checks = [opposite(at_most(interval(row, "rescore_over_maxwin"), 0.0)) for row in rows.itertuples()]
    return Found(checks, f"better by {span(100 * rows.rescore_over_maxwin)} points in {len(rows)} cases")


def max_win_among_k(tables: Tables) -> Found:
    """Judge whether max-win among the k improves on the poll."""
    rows = _gain(tables)
    checks = [opposite(at_most(interval(row, "maxwin_gain"), 0.0)) for row in rows.itertuples()]
    return Found(checks, f"{span(100 * rows.maxwin_gain)} points")


def slower_than_cascades(tables: Tables) -> Found:
    """Judge whether a poll asks l times as much as ddag and adag."""
    curves = _curves(tables)
    factors = [curves[n, p, FIVE].queries / curves[n, p, "ddag"].queries for n, p in _places(curves)]
    sizes = [curves[n, p, FIVE].queries / n for n, p in _places(curves)]
    checks: list[bool | None] = [abs(f / s - 1.0) < 0.1 for f, s in zip(factors, sizes, strict=True)]
    return Found(checks, f"l = {span(sizes)}, {span(factors)} times the queries of ddag")


def cheaper_than_max_win(tables: Tables) -> Found:
    """Judge whether polls of 5 log n ask less than all pairs."""
    curves = _curves(tables)
    ratios = {n: curves[n, p, FIVE].queries / (n * (n - 1) / 2) for n, p in _places(curves)}
    checks: list[bool | None] = [ratio < 1.0 for ratio in ratios.values()]
    dearer = [n for n, ratio in ratios.items() if ratio >= 1.0]
    told = f"{number(ratios[min(ratios)])} times max-win's queries at n = {min(ratios)}, "
    return Found(
        checks, f"{told}{number(ratios[max(ratios)])} at n = {max(ratios)}; more up to n = {max(dearer, default=0)}"
    )


def best_way(tables: Tables) -> Found:
    """Judge whether polls need no more pairs than the posterior rule that is as sure."""
    rows = tables("poll_against_posterior")
    checks: list[bool | None] = [row.ratio <= 1.0 for row in rows.itertuples()]
    return Found(
        checks, f"a poll asks {span(rows.ratio)} times the different pairs of the posterior rule that is as sure"
    )


def model_fits(tables: Tables) -> Found:
    """Judge whether uniform-p predicts decoders on trained models."""
    rows = tables("noise_models")
    rows = rows[rows.decoder.str.startswith(("max-win", "poll", "adag", "ddag"))]
    checks = [
        at_most((0.0, row.uniform_distance_high), 0.03) if row.uniform_distance_low >= 0 else None
        for row in rows.itertuples()
    ]
    checks = [
        False if row.uniform_distance_low > 0.03 else check
        for row, check in zip(rows.itertuples(), checks, strict=True)
    ]
    models = rows.groupby(["set", "kernel"]).ngroups
    return Found(
        checks, f"its prediction is off by {span(rows.uniform_distance)} in success on {models} trained models"
    )


def on_real_data(tables: Tables) -> Found:
    """Judge whether polls of 5 log n are close to max-win on trained models."""
    rows = tables("decoders_on_real_data")
    checks, gaps = [], []
    for _, part in rows.groupby(["data", "estimator"]):
        found = {row.decoder: row for row in part.itertuples()}
        poll, best = found[FIVE], found["max-win"]
        checks.append(at_most((best.low - poll.high, best.high - poll.low), CLOSE))
        gaps.append(100.0 * (best.accuracy - poll.accuracy))
    return Found(checks, f"{span(gaps)} points of accuracy behind max-win on {len(gaps)} models of 26 to 150 classes")


def _claim(where: str, claim: str, printed: str, script: str, judge: Any) -> Claim:
    return Claim("POLL", f"sec. {where}", claim, printed, script, judge)


MODEL, FIGURES = "poll_claims", "poll_figures"
CLAIMS = (
    _claim("1.4", "ddag's success follows the printed formula", "a formula", MODEL, lambda t: formula(t, "ddag")),
    _claim("1.4", "adag's success follows the printed formula", "a formula", MODEL, lambda t: formula(t, "adag")),
    _claim("4, fig. 1, 2", "ddag and adag drop as n grows", "curves", FIGURES, cascades_fall),
    _claim(
        "4, fig. 1, 2",
        "max-win succeeds more often than poll, adag and ddag",
        "curves",
        FIGURES,
        lambda t: _pairs(t, "max-win", (FIVE, "adag", "ddag")),
    ),
    _claim("4, fig. 1, 2", "a larger sample brings poll closer to max-win", "curves", FIGURES, larger_samples),
    _claim(
        "4, fig. 1a, 2a",
        f"poll with 5 log n is close to max-win at p = 0.9 (within {CLOSE})",
        "curves",
        FIGURES,
        close_at_09,
    ),
    _claim("4, fig. 2b", "at p = 0.7 the same constant is too small", "curves", FIGURES, too_small_at_07),
    _claim("4", "poll is slower than ddag and adag by a factor of l", "l = O(log n)", FIGURES, slower_than_cascades),
    _claim("5", "poll with 5 log n asks less than max-win", "O(n log n)", FIGURES, cheaper_than_max_win),
    _claim("1.2", "with O(n log n) comparisons (5 log n) the success goes to 1", "1 - 1/n^c", MODEL, tends_to_one),
    _claim("2.1", "Theorem 2's l gives a failure of at most 1/n", "234 log n + 2", MODEL, theorem_2),
    _claim("2.1", "5 log n is all that is needed at p = 0.9 (failure of at most 1/n)", "5 log n", MODEL, five_log),
    _claim("2.1", "an instance is 1.8-separated when p = 0.9 (half of them or more)", "1.8", MODEL, separated),
    _claim("2.2", "Theorem 3 (corrected): how often instances are clear-cut", "1 - e^(-Omega(n))", MODEL, theorem_3),
    _claim("3", "top-k with rescoring usually gains 2-10%", "2-10%", MODEL, usual_gain),
    _claim("3", "it does not help much when the success is close to 1", "not much", MODEL, little_gain_near_one),
    _claim("3", "max-win among the k improves on the poll", "improves", MODEL, max_win_among_k),
    _claim("3", "rescoring is better than max-win among the k", "better", MODEL, rescoring_is_better),
    _claim(
        "2.2",
        "uniform-p describes classifiers (success within 0.03 on trained models)",
        "mild",
        "noise_models",
        model_fits,
    ),
    _claim(
        "5",
        f"on real data poll with 5 log n is close to max-win (within {CLOSE})",
        "might",
        "real_decoders",
        on_real_data,
    ),
)
BEYOND = (
    Claim(
        "-",
        "not claimed",
        "no known way of asking needs fewer comparisons than poll for the same success",
        "-",
        MODEL,
        best_way,
    ),
)
