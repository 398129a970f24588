"""Pictures say what the tables say: every interval is seen, no two decoders look alike, no two names overlap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pairsim import Adag, Ddag, MaxWin, ParameterError, Poll, Ranked, Recorded, Uniform, fit_oracles, plan, sweep
from pairsim.bounds import least_mean_queries, least_queries
from pairsim.evaluation import evaluate
from pairsim.evaluation.pictures import plot_accuracy
from pairsim.plots import plot_fits, plot_frontier, plot_panels, plot_success
from pairsim.plots.fits import LINE, _apart
from pairsim.plots.style import count_on_log_axis, point_style


def bars(container) -> tuple[float, float]:
    """Return the lower and the upper end of the one error bar."""
    (_, caps, (lines,)) = container
    (segment,) = lines.get_segments()
    assert len(caps) in (0, 2)
    return float(segment[0, 1]), float(segment[1, 1])


def test_recorded_answers_are_drawn_against_queries_with_their_intervals():
    rows = sweep([Recorded.of(Ranked(8, 0.9), 200)], [MaxWin(), Poll("log"), Adag()])
    ax = plot_success(rows)
    assert (ax.get_xlabel(), ax.get_xscale()) == ("queries per decision", "log")
    assert [container.get_label() for container in ax.containers] == ["max-win", "poll:l=log", "adag"]
    for container, row in zip(ax.containers, rows.itertuples(), strict=True):
        assert (container[0].get_xdata()[0], container[0].get_ydata()[0]) == (row.queries, row.success)
        assert bars(container) == pytest.approx((row.low, row.high))
        assert row.low < row.high


def test_what_goes_on_the_axis_can_be_chosen():
    rows = sweep([Uniform(n, p) for p in (0.7, 0.9) for n in (4, 8)], [MaxWin(), Ddag()], trials=200)
    figure = plot_panels(rows, x="queries")
    assert [ax.get_title() for ax in figure.axes] == ["uniform, n = 4", "uniform, n = 8"]
    assert [container.get_label() for container in figure.axes[0].containers] == [
        *("max-win, 0.7", "ddag, 0.7", "max-win, 0.9", "ddag, 0.9"),
    ]
    one = sweep([Uniform(8, 0.7)], [MaxWin()], trials=200)
    assert plot_success(one).get_xlabel() == "queries per decision"
    assert plot_success(one, x="n").get_xlabel() == "number of classes n"
    assert plot_success(one, x="queries", scale="linear").get_xscale() == "linear"
    with pytest.raises(ParameterError, match="one of 'auto', 'n', 'p', 'queries'"):
        plot_success(one, x="rounds")


def looks(line) -> tuple[object, ...]:
    return (line.get_color(), line.get_marker(), line.get_markerfacecolor())


def test_sixteen_decoders_look_different():
    assert len({tuple(point_style(place).items()) for place in range(16)}) == 16
    both = itertools.product(range(16), range(8))
    assert len({tuple(point_style(place, shape).items()) for place, shape in both}) == 16 * 8
    rows = sweep([Uniform(12, 0.9)], [Poll(l) for l in range(1, 13)], trials=64)
    assert len({looks(container[0]) for container in plot_success(rows).containers}) == 12
    lines = [line for line in plot_frontier(plan(Uniform(12, 0.9), 0.5)).lines if line.get_marker() != "None"]
    assert len({looks(line) for line in lines}) == len(lines) > 8
    specs = [f"poll:l={l}" for l in range(1, 11)]
    ax = plot_accuracy(evaluate(["iris"], ["svc-rbf", "svc-linear"], specs).frame)
    assert len({looks(container[0]) for container in ax.containers}) == 20


def test_a_plan_looks_alike_against_mean_and_most_queries_and_has_the_floor_of_each():
    found = plan(Uniform(12, 0.9), 0.5)
    pictures = {cost: plot_frontier(found, cost).lines for cost in ("mean", "most")}
    families = [
        {line.get_label(): looks(line) for line in lines if line.get_marker() != "None"} for lines in pictures.values()
    ]
    assert families[0] == families[1]
    for cost, name, least in (("mean", "mean", least_mean_queries), ("most", "budget", least_queries)):
        (floor,) = (line for line in pictures[cost] if line.get_label() == f"floor of the {name}")
        assert len(floor.get_xdata()) > 20
        for queries, success in zip(floor.get_xdata(), floor.get_ydata(), strict=True):
            assert queries == least(found.oracle, success)


@pytest.mark.parametrize(
    ("ends", "labels"),
    [
        ((9, 60), ["10", "20", "30", "40", "60"]),
        ((25, 600), ["50", "100", "200", "500"]),
        ((2, 99_000), ["10", "100", "1000", "10000", "100000"]),
    ],
    ids=str,
)
def test_queries_are_plain_numbers_that_have_room(ends, labels):
    figure = Figure()
    ax = figure.subplots()
    ax.plot(ends, [0, 1])
    count_on_log_axis(ax)
    FigureCanvasAgg(figure).draw()
    low, high = ax.get_xlim()
    ticks = [label for which in (False, True) for label in ax.get_xticklabels(minor=which)]
    shown = sorted((label.get_position()[0], label.get_text()) for label in ticks)
    assert [text for place, text in shown if low <= place <= high] == labels


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12).map(sorted))
def test_names_are_pushed_apart_no_farther_than_they_must(places):
    found = _apart(places)
    assert (np.diff(found) >= LINE - 1e-9).all()
    assert np.mean(found) == pytest.approx(np.mean(places))
    if len(places) == 1 or np.diff(places).min() >= LINE:
        assert found == pytest.approx(places)


def test_fits_name_every_decoder_above_the_panel():
    decoders = [MaxWin(), Poll("log"), Poll("3log"), Adag(), Ddag()]
    fits = fit_oracles(Recorded.of(Ranked(8, 0.95), 200), decoders, trials=1000)
    ax = plot_fits(fits)
    assert sorted(text.get_text() for text in ax.texts) == sorted(decoder.spec for decoder in decoders)
    observed = {each.decoder: each.success for each in fits.observed}
    assert all(text.xy == (observed[text.get_text()], 1.0) for text in ax.texts)
    assert min(text.get_position()[1] for text in ax.texts) > 1.0
    assert [container.get_label() for container in ax.containers] == ["uniform", "similarity", "ranked"]
