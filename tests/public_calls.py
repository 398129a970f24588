"""Every public function and constructor with arguments that are good, for tests that put a wrong one in their place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import pairsim
from pairsim import (
    bounds,
    coupling,
    datasets,
    evaluation,
    exact_values,
    fitting,
    learn,
    models,
    plots,
    replay,
    stats,
    store,
)
from pairsim.simulation import simulate_together
from pairsim.sweeps import make_request

# values that are right for some parameters and wrong for most
WRONG: list[Any] = [
    *(None, 5, -1, 2.5, float("nan"), float("inf"), True, 10**30, 10**5000, 1j),
    *("x", "", b"x", "a\0b"),
    *([], {}, [None], ["x"], [[1, 2], [3]], [10**30], iter(())),
    *(object(), object, len),
    *(np.array(1.0), np.array([1.0, 2.0]), np.array(["x"]), np.array([None]), np.zeros((0, 3)), np.zeros((2, 2, 2))),
    *(pairsim.MaxWin(), pairsim.Uniform(4, 0.7)),
]
WHOLE = [value for value in WRONG if isinstance(value, int | np.integer) and not isinstance(value, bool)]


@dataclasses.dataclass(frozen=True)
class Call:
    """A public callable with good arguments.

    `not_whole` are parameters that take whole numbers of things which a test must not start, such as processes;
    `callables` are those that take a callable, whose own errors are none of ours; `skipped` are left as they are.
    """

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    skipped: tuple[str, ...] = ()
    not_whole: tuple[str, ...] = ()
    callables: tuple[str, ...] = ("progress",)
    not_text: tuple[str, ...] = ("scheduler",)  # which would be called up, and waited for

    def tries(self) -> list[tuple[str, Any]]:
        """Return every parameter with every wrong value."""
        return [
            (name, value)
            for name in self.arguments
            if name not in self.skipped
            for value in WRONG
            if not (name in self.not_whole and any(value is whole for whole in WHOLE))
            if not (name in self.callables and callable(value))
            if not (name in self.not_text and isinstance(value, str))
        ]


BITS = np.ones((2, 1), np.uint8)


def public_calls(folder: Any) -> list[Call]:
    """Return the calls; those that read or write files do so in a folder."""
    return [*_oracles_and_decoders(folder), *_top_level(folder), *_numbers(), *_results(folder)]


def _oracles_and_decoders(folder: Any) -> list[Call]:
    oracle = pairsim.Uniform(4, 0.7)
    recorded = pairsim.Recorded.of(oracle, 20)
    recorded.save(folder / "answers.npz")
    calls = [
        Call("Uniform", pairsim.Uniform, {"n": 4, "p": 0.7}),
        Call("Ranked", pairsim.Ranked, {"n": 4, "p": 0.7, "order": 0.9, "difficulty": 0.5}),
        Call("Similarity", pairsim.Similarity, {"r": [0.5, 0.3, 0.2], "label": "similarity"}),
        Call("Similarity.profile", pairsim.Similarity.profile, {"text": "zipf:1", "n": 4}),
        Call("Matrix", pairsim.Matrix, {"win_probabilities": [[0.5, 0.7], [0.3, 0.5]], "label": "matrix"}),
        Call("Recorded", pairsim.Recorded, {"answers": [[True], [False]], "truth": [0, 1]}),
        Call("Recorded.of", pairsim.Recorded.of, {"oracle": oracle, "trials": 5, "seed": 0}),
        Call("Recorded.load", pairsim.Recorded.load, {"path": folder / "answers.npz"}),
        Call(
            "Recorded.from_bits",
            pairsim.Recorded.from_bits,
            {"n": 2, "bits": np.ones((2, 1), np.uint8), "truth": [0, 1]},
        ),
        Call("Recorded.save", recorded.save, {"path": folder / "new.npz"}),
        Call("decoder", pairsim.decoder, {"spec": "poll:l=3", "ties": "lose"}),
        Call("Posterior.probabilities", pairsim.Posterior().probabilities, {"wins": [1, 0], "losses": [0, 1]}),
        Call("Poll.expected_distinct", pairsim.Poll(3).expected_distinct, {"n": 4}),
        Call("TopK.expected_distinct", pairsim.TopK(2, 3).expected_distinct, {"n": 4}),
    ]
    for decoder in (
        pairsim.MaxWin("lose"), pairsim.Poll(3), pairsim.TopK(2, 3), pairsim.Halving(2), pairsim.Quick(),
        pairsim.Champion(), pairsim.Posterior(), pairsim.Adag(), pairsim.Ddag(), pairsim.Radag([0.1, 0.2, 0.3]),
        pairsim.Radag(), pairsim.Learned(),
    ):  # fmt: skip
        fields = {field.name: getattr(decoder, field.name) for field in dataclasses.fields(decoder)}
        n = 3 if getattr(decoder, "errors", None) else 4
        calls += [
            Call(type(decoder).__name__, type(decoder), fields),
            Call(f"{decoder.spec} cost", decoder.cost, {"n": n}),
            Call(f"{decoder.spec} kernel", decoder.kernel, {"n": n}),
            Call(f"{decoder.spec} memory", decoder.memory, {"n": n}),
        ]
    return calls


def _top_level(folder: Any) -> list[Call]:
    oracle, decoder = pairsim.Uniform(4, 0.7), pairsim.MaxWin()
    recorded = pairsim.Recorded.of(oracle, 40)
    run = {"trials": 5, "seed": 0, "confidence": 0.95, "method": "simulated", "threads": 1, "progress": None}
    where = {"workers": None, "executor": None, "scheduler": None}
    whole = ("threads", "workers")
    plan = {
        "oracle": oracle,
        "target": 0.2,
        "decoders": [pairsim.Adag()],
        "max_queries": None,
        "max_rounds": None,
        "mean_queries": None,
        "seed": 0,
        "confidence": 0.95,
        "ties": "random",
        "trials": 10,
        "threads": 1,
        "progress": None,
    }
    sweep = {
        "oracles": [oracle],
        "decoders": [decoder],
        **run,
        "half_width": None,
        "max_failures": None,
        "max_seconds": None,
        "store": None,
        **where,
    }
    rules = {"half_width": None, "max_failures": None, "max_seconds": None, "shard": None}
    order = {name: value for name, value in run.items() if name not in ("threads", "progress")}
    fit = {
        "decoders": [decoder],
        "trials": 10,
        "folds": 3,
        "seed": 0,
        "confidence": 0.95,
        "threads": 1,
        "progress": None,
    }
    return [
        Call("exact", pairsim.exact, {"oracle": oracle, "decoder": pairsim.Adag(), "confidence": 0.95}),
        Call("simulate", pairsim.simulate, {"oracle": oracle, "decoder": decoder, **run}, not_whole=("trials", *whole)),
        Call("simulate_together", simulate_together, {"oracles": [oracle], "decoders": [decoder], **run},
             not_whole=("trials", *whole)),
        Call("sweep", pairsim.sweep, sweep, not_whole=("trials", "max_failures", *whole)),
        Call("make_request", make_request, {"oracles": [oracle], "decoders": [decoder], **order, **rules}),
        Call("plan", pairsim.plan, plan, not_whole=("trials", *whole)),
        Call("separation", pairsim.separation,
             {"oracle": oracle, "trials": 5, "seed": 0, "confidence": 0.95, "of": "truth", "threads": 1,
              "progress": None}, not_whole=("threads",)),
        Call("fit_oracles", pairsim.fit_oracles, {"recorded": recorded, **fit}, skipped=("decoders", "progress"),
             not_whole=("trials", "folds", *whole)),
        Call("pick", pairsim.pick, {"ask": lambda i, j: i < j, "n": 4, "decoder": decoder, "seed": 0},
             callables=("ask",)),
        Call("Session", pairsim.Session, {"n": 4, "decoder": decoder, "seed": 0}),
        Call("Session.tell", lambda **told: pairsim.Session(2).tell(**told), {"i": 0, "j": 1, "i_wins": True}),
        Call("Session.tell_all", lambda **told: pairsim.Session(2).tell_all(**told), {"first_wins": [True]}),
        Call("Session.credible_set", pairsim.Session(3, pairsim.Posterior()).credible_set, {"level": 0.9}),
        Call("Choice.credible_set", pairsim.Choice(1, 3, 3, 2).credible_set, {"level": 0.9}),
        Call("Choice", pairsim.Choice, {"winner": 1, "queries": 3, "distinct": 3, "rounds": 2}),
        Call("from_model", pairsim.from_model, {"model": _fitted()}),
        Call("replay_trial", replay.replay_trial, {"oracle": oracle, "decoder": decoder, "seed": 0, "trial": 0}),
    ]  # fmt: skip


def _fitted() -> Any:
    from sklearn.svm import SVC

    return SVC().fit([[0.0], [1.0], [2.0]], [0, 1, 2])


def _numbers() -> list[Call]:
    oracle = pairsim.Uniform(4, 0.9)
    margins, r = [[0.1, -0.2, 0.3]], [[0.6, 0.7, 0.8]]
    more = {"tol": 1e-9, "max_iter": 5, "clip": 1e-6, "weights": None}
    theory = {
        "m": 100,
        "c": 3,
        "gamma": 0.5,
        "radius": 1.0,
        "kernels": 2,
        "delta": 0.05,
        "margin_error": 0.0,
        "norm": 1.0,
    }
    tree = {"n": 100, "margins": [0.5, 0.5], "radius": 1.0, "delta": 0.05, "reading": "scale-free"}
    update = {"norm_squared": 4.0, "step": 1.0, "margin": 1.0, "largest": 1.0, "presentations": 10}
    size = {"n": 16, "p": 0.9, "failure": 0.1, "ties": "lose", "largest": 200}
    risk = bounds.TheoryBound(0.5, False, {})
    paper = {"n": 16, "alpha": 1.8, "c": 1.0, "p": None, "printed": False}
    sample = stats.Moments(5, 0.1, 0.1, 0.0)
    return [
        Call("break_ties", coupling.break_ties, {"scores": [[1, 1, 1]], "margins": margins, "n": 3, "rule": "margin"}),
        Call("hastie_tibshirani", coupling.hastie_tibshirani, {"r": r, "n": 3, **more}),
        Call("non_dominance", coupling.non_dominance, {"r": r, "n": 3, "against": None}),
        Call("pkpd", coupling.pkpd, {"r": r, "n": 3, "clip": 1e-6}),
        Call("probabilities_of", coupling.probabilities_of, {"margins": margins, "A": [-1.0] * 3, "B": [0.0] * 3}),
        Call("vote_scores", coupling.vote_scores, {"margins": margins, "n": 3}),
        Call("weighted_vote", coupling.weighted_vote, {"margins": margins, "n": 3}),
        Call("wu_lin_weng", coupling.wu_lin_weng, {"r": r, "n": 3}),
        Call("bound", bounds.bound, {"oracle": oracle, "decoder": pairsim.MaxWin()}),
        Call("least_queries", bounds.least_queries, {"oracle": oracle, "success": 0.9}),
        Call("least_mean_queries", bounds.least_mean_queries, {"oracle": oracle, "success": 0.9}),
        Call("most_success", bounds.most_success, {"oracle": oracle, "queries": 3}),
        Call("certified_sample_size", bounds.certified_sample_size, size),
        Call("chernoff_above", bounds.chernoff_above, {"mean": 10.0, "delta": 0.5}),
        Call("chernoff_below", bounds.chernoff_below, {"mean": 10.0, "delta": 0.5}),
        Call("cutting_plane_cost", bounds.cutting_plane_cost, {"class_sizes": [3, 4], "nonzeros": 2, "printed": False}),
        Call("cutting_plane_steps", bounds.cutting_plane_steps,
             {"epsilon": 0.1, "penalty": 1.0, "norm": 2.0, "printed": False}),
        Call("pac_bayes_bound", bounds.pac_bayes_bound,
             {"m": 100, "c": 3, "norm": 2.0, "margin_error": 0.1, "difference": 1.0, "delta": 0.05,
              "deterministic": False}),
        Call("sbc_consistency", bounds.sbc_consistency, {"probabilities": [[0.6, 0.4]]}),
        Call("sparsity_risk_bound", bounds.sparsity_risk_bound, {"m": 100, "d": 3, "errors": 1, "delta": 0.05}),
        Call("tree_training_cost", bounds.tree_training_cost,
             {"n": 100, "classes": 5, "unit": 1.0, "printed": False}),
        Call("lemma_1", bounds.lemma_1, {"alpha": 1.8, "c": 1.0, "printed": False}),
        Call("n_required", bounds.n_required, {"risk_at": lambda m: risk, "target": 1.0}, callables=("risk_at",)),
        Call("paper_sample_size", bounds.paper_sample_size, paper),
        Call("perceptron_update_bound", bounds.perceptron_update_bound, update),
        Call("sbc_risk_bound", bounds.sbc_risk_bound, theory),
        Call("theorem_3", bounds.theorem_3, {"n": 100, "p": 0.9, "epsilon": 0.1, "printed": False}),
        Call("tree_risk_bound", bounds.tree_risk_bound, tree),
        Call("binomial_interval", stats.binomial_interval, {"successes": 3, "trials": 10, "confidence": 0.95}),
        Call("bounded_interval", stats.bounded_interval, {"sample": sample, "confidence": 0.95}),
        Call("exact_values.exact", exact_values.exact, {"oracle": oracle, "decoder": pairsim.Ddag()}),
        Call("mcnemar", evaluation.mcnemar, {"first_only": 3, "second_only": 5}),
        Call("corrected_t", evaluation.corrected_t, {"first": [True, True], "second": [True, False], "fold": [0, 1]}),
        Call("fold_interval", evaluation.fold_interval, {"hits": [True, False], "fold": [0, 1], "confidence": 0.95}),
        Call("average_ranks", evaluation.average_ranks,
             {"errors": [[0.1, 0.2, 0.3], [0.2, 0.3, 0.1]], "methods": ["a", "b", "c"], "confidence": 0.95}),
    ]  # fmt: skip


def _results(folder: Any) -> list[Call]:
    import pandas as pd
    import skops.io
    from matplotlib.figure import Figure

    oracle = pairsim.Uniform(4, 0.7)
    recorded = pairsim.Recorded.of(oracle, 40)
    rows = pairsim.sweep([oracle], [pairsim.MaxWin()], trials=5)
    frontier = pairsim.plan(oracle, 0.2, decoders=[pairsim.Adag()])
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    fits = pairsim.fit_oracles(recorded, [pairsim.Adag()], trials=10)
    evaluate = {"data": ["iris"], "estimators": ["linear-svc"], "decoders": ["adag"], "seed": 0, "confidence": 0.95}
    how = {"scaling": "standard", "split": None}
    evaluate |= {"test_share": 0.3, "target": None, **how}
    folds = {
        "data": ["iris"],
        "reductions": ["one-vs-all"],
        "estimator": None,
        "folds": 3,
        "target": None,
        "seed": 0,
        "confidence": 0.95,
        "tune": "none",
        "grid": None,
        "inner_folds": 5,
        "patience": 3,
        "fold_size": "even",
        **how,
    }
    linear = {"coef": np.ones((3, 2)), "intercept": np.zeros(3), "classes": [1, 2, 3]}
    ranks = evaluation.average_ranks([[0.1, 0.2, 0.3], [0.2, 0.3, 0.1]], ["a", "b", "c"])
    lines = "svm_type c_svc|kernel_type linear|nr_class 2|total_sv 2|rho 0.5|label 7 3|nr_sv 1 1|SV|1 1:1|-1 2:1|"
    (folder / "two.model").write_text(lines.replace("|", "\n"))
    skops.io.dump(_fitted(), folder / "three.skops")
    tree = learn.ClassTree([-1, -2], [1, -3])
    path = folder / "a.db"
    store.Store.create_or_open(path).close()
    return [
        Call("fit_uniform", fitting.fit_uniform, {"recorded": recorded}),
        Call("fit_similarity", fitting.fit_similarity, {"recorded": recorded}),
        Call("fit_ranked", fitting.fit_ranked, {"recorded": recorded}),
        Call("traits_of", fitting.traits_of, {"recorded": recorded}),
        Call("load", datasets.load, {"name": "iris", "target": None, "test_share": 0.3, "seed": 0}),
        Call("preprocessor", datasets.preprocessor, {"X": frame, "scaling": "standard"}),
        Call("Dataset", datasets.Dataset, {"name": "d", "X": frame, "y": np.array([0, 1, 0, 1]), "X_test": frame,
                                            "y_test": np.array([0, 1, 0, 1])}),
        Call("estimator", evaluation.estimator, {"spec": "svc-rbf:C=10"}),
        Call("reduction", evaluation.reduction, {"spec": "one-vs-all", "base": None}),
        Call("evaluation.make_evaluation_request", evaluation.make_evaluation_request, evaluate),
        Call("evaluation.make_cross_validation_request", evaluation.make_cross_validation_request, folds),
        # what the requests do not have: everything else is checked as above
        Call("evaluate", lambda **more: evaluation.evaluate(["iris"], decoders=["adag"], **more),
             {"store": None, "progress": None}),
        Call("evaluate_reductions",
             lambda **more: evaluation.evaluate_reductions(["iris"], ["perceptron"], folds=2, **more),
             {"store": None, "jobs": 1, "progress": None}, not_whole=("jobs",)),
        Call("PairModel.record", pairsim.from_model(_fitted()).record, {"X": [[0.0], [1.0]], "y": [0, 1]},
             skipped=("X",)),
        Call("greedy_search", evaluation.greedy_search,
             {"error": lambda value: 0.5, "patience": 3, "start": 1.0, "factor": 2.0}, callables=("error",)),
        Call("plot_ranks", evaluation.plot_ranks, {"found": ranks, "ax": None}),
        Call("save_picture", plots.save_picture, {"figure": Figure(), "path": folder / "picture.png"}),
        Call("is_our_picture", plots.is_our_picture, {"path": folder / "picture.png"}),
        Call("plot_fits", plots.plot_fits, {"fits": fits, "ax": None}),
        Call("plot_frontier", plots.plot_frontier, {"plan": frontier, "cost": "mean", "ax": None}),
        Call("plot_tree", plots.plot_tree, {"model": tree, "labels": ["a", "b", "c"], "ax": None}),
        Call("export_text", learn.export_text, {"tree": tree, "labels": ["a", "b", "c"]}),
        Call("ClassTree", learn.ClassTree, {"left": [-1, -2], "right": [1, -3], "classes": ()}),
        Call("ClassTree.of_nested", learn.ClassTree.of_nested, {"nested": (0, (1, 2))}),
        Call("ClassTree.path_to", tree.path_to, {"label": 2}),
        Call("ClassTree.grow", learn.ClassTree.grow,
             {"n_classes": 3, "split": lambda classes: (classes[:1], classes[1:])}, callables=("split",),
             not_whole=("n_classes",)),
        Call("plot_success", plots.plot_success, {"rows": rows, "x": "auto", "scale": "auto", "ax": None}),
        Call("plot_panels", plots.plot_panels, {"rows": rows, "x": "auto", "scale": "auto"}),
        Call("read_libsvm", models.read_libsvm, {"path": folder / "two.model"}),
        Call("read_skops", models.read_skops, {"path": folder / "three.skops"}),
        Call("LinearPairs", models.LinearPairs, linear),
        Call("fit_perceptrons", learn.fit_perceptrons,
             {"X": frame.to_numpy(), "y": [0, 1, 0, 1], "perceptron": None, "n_jobs": None}, skipped=("X", "y"),
             not_whole=("n_jobs",)),
        Call("is_store", store.is_store, {"path": path}),
        Call("Store.create_or_open", store.Store.create_or_open, {"path": path}),
        Call("Store.read", store.Store.read, {"path": path}),
        Call("merge_stores", store.merge_stores, {"paths": [path], "out": folder / "out.db"}),
        Call("task_id", store.task_id, {"definition": "{}"}),
        Call("task_kind", store.task_kind, {"definition": "{}"}),
    ]  # fmt: skip
