"""Errors in the print of the five papers, each with the test or script that proves it."""

from __future__ import annotations

from typing import NamedTuple


class Erratum(NamedTuple):
    """What is wrong in the print, what is right, and where that is proved: a script, or file::test."""

    paper: str
    where: str
    wrong: str
    right: str
    proof: str


PAPER_TESTS, TREES, SBC, CCCP = (
    "tests/bounds/test_bounds_paper.py::",
    "tests/bounds/test_theory_costs.py::",
    "tests/learn/test_single_binary.py::",
    "tests/learn/test_cccp.py::",
)
OWN = "tests/experiments/test_errata.py::"
THEORY = "tests/bounds/test_bounds_learning_theory.py::"

ERRATA = (
    Erratum(
        "POLL",
        "sec. 1.4, 2.2",
        "p is the probability of an error in 1.4, of a right answer in 2.2",
        "p is the probability of a right answer everywhere",
        "script poll_claims",
    ),
    Erratum(
        "POLL",
        "Lemma 1",
        "the second half asks for l > log(gamma) (...), which is negative",
        "l >= 4 (c log n1 + 1) / log(1/gamma)",
        PAPER_TESTS + "test_erratum_the_printed_condition_of_the_second_half_is_void",
    ),
    Erratum(
        "POLL",
        "Lemma 1",
        "factor log2 e, and the 1 from the factor 1/2 outside of the product",
        "factor ln 2, times (c log n1 + 1); for separations near 1 the printed l is not covered by the proof",
        PAPER_TESTS + "test_erratum_the_printed_size_is_too_small_for_small_separations",
    ),
    Erratum(
        "POLL",
        "Theorem 3",
        "separation p (1 - e) / (1 + e)^2, which is below 1",
        "2p (1 - e) / (1 + e)",
        PAPER_TESTS + "test_erratum_theorem_3_promises_less_than_one_in_print",
    ),
    Erratum(
        "POLL",
        "sec. 2.1",
        "an instance is 1.8-separated when p = 0.9",
        "only in the limit of large n",
        "tests/bounds/test_separation.py::test_the_known_medians_and_fractions",
    ),
    Erratum(
        "SBC",
        "table 2",
        "vehicle has 3 classes",
        "4: all its cells are wrong rows of 840, those of the whole set",
        OWN + "test_cells_of_sbc_are_whole_rows_of_ten_equal_folds",
    ),
    Erratum(
        "SBC",
        "table 2",
        "average ranks of the rows shown",
        "they belong to eleven rows; the one that is not shown has the ranks 5, 6, 2, 4, 7, 3, 1",
        OWN + "test_printed_ranks_of_sbc_belong_to_eleven_rows",
    ),
    Erratum(
        "SBC",
        "sec. 5",
        "KERNEL differs significantly from the others",
        "on the printed rows from AP, ECOC and SINGLE only",
        OWN + "test_kernel_differs_from_three_methods",
    ),
    Erratum(
        "SBC",
        "table 2",
        "OVA and SBC-ECOC, ECOC and SBC-SINGLE as separate measurements",
        "in the last five rows they are equal to the last digit",
        OWN + "test_columns_of_sbc_are_equal_in_the_last_rows",
    ),
    Erratum(
        "SBC",
        "table 2",
        "ECOC and OVA differ on sets of three classes",
        "a code of three classes has no dichotomies but those of one-vs-all",
        "tests/learn/test_output_code.py::test_codes_of_three_classes_are_one_vs_all",
    ),
    Erratum(
        "SBC",
        "Algorithm 2",
        "it reaches the global minimum",
        "it stops where weights are proportional to gradients; the minimum has equal gradients",
        SBC + "test_the_printed_update_stops_where_weights_are_proportional_to_gradients",
    ),
    Erratum(
        "SBC",
        "sec. 3.1",
        "the constraint on the signs of the weights is superfluous at the optimum that is found",
        "another step, with equal gradients, has a lower objective",
        SBC + "test_the_other_update_reaches_equal_gradients_and_a_lower_objective",
    ),
    Erratum(
        "SBC",
        "footnote 1",
        "b averages over all support vectors",
        "it has no effect: a bias that all copies share never changes the class that is predicted",
        SBC + "test_a_shared_bias_never_changes_who_is_named",
    ),
    Erratum(
        "SBC",
        "Lemma 4.1",
        "a margin without the norm of w; a logarithm that can be negative",
        "gamma / |w|; the logarithm is cut off at 0",
        THEORY + "test_sbc_terms_add_up_and_the_norm_divides_the_margin",
    ),
    Erratum(
        "voSVM",
        "Theorem 1",
        "that the perceptron halts is read as learning",
        "every row has its margin in its own class; training errors can remain high",
        "tests/learn/test_vector_machines.py::test_halting_is_not_naming_rightly",
    ),
    Erratum(
        "voSVM",
        "sec. 3",
        "penalties C of any size",
        "with indicator labels and a Gaussian kernel no dual variable exceeds 1: every C >= 1 is the same machine",
        "tests/learn/test_vector_machines.py::test_with_a_gaussian_kernel_no_variable_exceeds_one",
    ),
    Erratum(
        "voSVM",
        "tables 2, 3",
        "glass has 7 classes",
        "6 are present",
        OWN + "test_tables_of_vosvm_disagree_on_glass_alone",
    ),
    Erratum(
        "notes",
        "sec. 2.2",
        "the SGD shrinks W only where the loss is positive",
        "it must shrink in every step, or it ends at the wrong value",
        "tests/learn/test_crammer_singer.py::test_steps_go_to_the_optimum_only_if_all_of_them_shrink",
    ),
    Erratum(
        "notes",
        "sec. 2.1",
        "E has the classes with a strictly higher score: it is empty when all weights are 0",
        "ties belong to E",
        "tests/learn/test_multiclass_perceptron.py::test_the_first_row_is_taken_from_all_classes_or_from_the_first",
    ),
    Erratum(
        "notes",
        "sec. 3",
        "no line splits a sector of the circle from the others",
        "with a bias one does; without, and on the disc, none does",
        "script notes_examples",
    ),
    Erratum(
        "notes",
        "sec. 1.3",
        "the expansion begins with exp(-1 * 0.5)",
        "exp(0.5): the loss has a minus of its own; the printed sums are right",
        "tests/learn/test_code_decoding.py::test_the_worked_example",
    ),
    Erratum(
        "SDT",
        "equation (8)",
        "M_ij penalises pairs that are placed perfectly",
        "M_ij = (k_i + k_j)(k_i + k_j)'",
        CCCP + "test_the_printed_matrix_penalises_a_pair_that_is_placed_perfectly",
    ),
    Erratum(
        "SDT",
        "equation (8)",
        "Algorithm 1 as printed",
        "with the printed M_ij it never finds the best split of iris, and the objective rises",
        CCCP + "test_the_printed_matrix_never_finds_the_optimum_on_iris",
    ),
    Erratum(
        "SDT",
        "equation (4)",
        "nothing balances the sides",
        "w = 0, |b| >= 1 has objective 0: all classes on one side is the global optimum",
        CCCP + "test_when_every_start_is_trivial_the_error_says_so",
    ),
    Erratum(
        "SDT",
        "sec. III-A",
        "values of the reduced problems decrease",
        "they are lower bounds, and rise",
        CCCP + "test_lower_bounds_rise_to_the_minimum_and_stay_below_it",
    ),
    Erratum(
        "SDT",
        "Theorem 1",
        "a step takes O(sl)",
        "it looks at every pair of one class, too",
        TREES + "test_a_step_looks_at_every_output_and_every_pair",
    ),
    Erratum(
        "SDT",
        "Theorem 2",
        "R^2 is a norm",
        "the norm must be squared",
        TREES + "test_steps_square_the_norm_and_the_print_does_not",
    ),
    Erratum(
        "SDT",
        "Theorem 3",
        "R^2 multiplies both terms, margins are not divided by norms",
        "the bound depends on the unit of the features; it exists only where every node separates its classes",
        THEORY + "test_tree_readings_differ_by_scale_alone",
    ),
    Erratum(
        "SDT",
        "table II",
        "SDT is in bold on vowel with the RBF kernel",
        "it is the lowest of the six there",
        OWN + "test_sdt_is_the_lowest_on_vowel_where_it_is_in_bold",
    ),
)
