"""Reading a reason and checking each of its claims against the queries, in plain Python."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple

from pairsim import Decoder, MaxWin, Poll, TopK
from pairsim.replay import Query, TrialReport

NUMBER = r"\d[\d,]*"
LIST = rf"class(?:es)? \d+(?:, \d+)*(?: and (?:\d+|{NUMBER} others))?"
RECORD = (
    rf"(?:won|lost) (?:{NUMBER} of (?:its|the) {NUMBER} queries|(?:both|all {NUMBER}) (?:of its )?queries"
    r"|(?:its|the) only query)(?: it asked)?"
)
ONLY = rf"only {NUMBER}|none"


class Table(NamedTuple):
    """Points of the classes in a race, and how many queries each could win."""

    points: dict[int, int]
    most: int
    asked: bool  # only its own queries count for a class


def whole(text: str) -> int:
    return int(text.replace(",", ""))


def read_list(text: str, classes: list[int]) -> bool:
    """Return whether `text` names exactly these classes, or the first ones and the number of the others."""
    numbers = [whole(each) for each in re.findall(r"\d+(?:,\d{3})*\b", text)]
    if text.endswith("others"):
        return numbers[:-1] == classes[: len(numbers) - 1] and len(numbers) - 1 + numbers[-1] == len(classes)
    return numbers == classes and text.startswith("classes") == (len(classes) > 1)


def record_holds(text: str, points: int, most: int, asked: bool) -> bool:
    """Return whether words such as "won 3 of its 4 queries" say these numbers."""
    if text.endswith("it asked") != asked:
        return False
    numbers = [whole(each) for each in re.findall(NUMBER, text)]
    if re.match(rf"won {NUMBER} of (its|the)", text):
        return numbers == [points, most]
    said = 1 if "only" in text else 2 if "both" in text else numbers[0]
    return said == most and points == (most if text.startswith("won") else 0)


def only_holds(text: str, points: int) -> bool:
    return points == (0 if text == "none" else whole(text.removeprefix("only ")))


def table_of(queries: list[Query], classes: list[int], asked: bool) -> Table:
    """Count wins by hand."""
    points = dict.fromkeys(classes, 0)
    played: Counter[int] = Counter()
    for query in queries:
        for each in (query.first,) if asked else (query.first, query.second):
            played[each] += 1
            if each in points and query.winner == each:
                points[each] += 1
    (most,) = {played[each] for each in classes}
    return Table(points, most, asked)


def finalists_of(report: TrialReport, decoder: TopK) -> list[int]:
    if len(report.rounds) == 1:
        return [] if report.winner is None else [report.winner]
    final = list(report.rounds[1])
    return sorted({q.first for q in final} | (set() if decoder.final == "rescore" else {q.second for q in final}))


def race_of(report: TrialReport, decoder: Decoder) -> Table | None:
    """Return the table that decides: of the only round, or of a final with the true class in it."""
    everyone = list(range(report.n))
    if not isinstance(decoder, TopK):
        return table_of(list(report.rounds[0]), everyone, isinstance(decoder, Poll))
    finalists = finalists_of(report, decoder)
    if report.truth not in finalists:
        return None
    if len(report.rounds) == 1:
        return table_of(list(report.rounds[0]), everyone, True)
    return table_of(list(report.rounds[1]), finalists, decoder.final == "rescore")


def right_by_scores(match: re.Match[str], report: TrialReport, decoder: Any) -> bool:
    race = race_of(report, decoder)
    if race is None or not int(match["truth"]) == report.truth == report.winner:
        return False
    own = race.points[report.truth]
    if not record_holds(match["record"], own, race.most, race.asked):
        return False
    if isinstance(decoder, TopK) and match["place"] != (" in the final" if len(report.rounds) == 2 else " in the poll"):
        return False
    if match["alone"]:
        return finalists_of(report, decoder) == [report.truth]
    rest = {label: points for label, points in race.points.items() if label != report.truth}
    second = max(rest.values())
    behind = [label for label, points in rest.items() if points == second]
    plural = match["each"] is not None and "runners-up" in match[0]
    return own > second == whole(match["second"]) and read_list(match["behind"], behind) and plural == (len(behind) > 1)


def beaten(match: re.Match[str], report: TrialReport, decoder: Any) -> bool:
    race = race_of(report, decoder)
    if race is None or (match["prefix"] is not None) != isinstance(decoder, TopK):
        return False
    named = int(match["winner"])
    return (
        named == report.winner
        and {int(match["truth"]), int(match["lost"] or match["truth"])} == {report.truth}
        and [label for label, points in race.points.items() if points == max(race.points.values())] == [named]
        and record_holds(match["record"], race.points[named], race.most, race.asked)
        and only_holds(match["only"], race.points[report.truth])
    )


def tied(match: re.Match[str], report: TrialReport, decoder: Any) -> bool:
    race = race_of(report, decoder)
    if race is None or (match["prefix"] is not None) != (isinstance(decoder, TopK) and report.winner != report.truth):
        return False
    top, own = max(race.points.values()), race.points[report.truth]
    leaders = [label for label, points in race.points.items() if points == top]
    said = {int(match[name]) for name in ("lost", "low", "even", "others") if match[name]}
    named = [int(match[name]) for name in ("drawn", "first") if match[name]]
    rule = "random" if match["drawn"] else "first" if match["first"] else "lose"
    return (
        len(leaders) > 1
        and read_list(match["leaders"], leaders)
        and whole(match["top"]) == top
        and said <= {report.truth}
        and named == ([] if report.winner is None else [report.winner])
        and decoder.ties == rule
        and (rule != "first" or named == leaders[:1])
        and (match["right"] is not None or match["right2"] is not None) == (report.winner == report.truth)
        and (match["low"] is not None) == (own < top)
        and (match["low"] is None or only_holds(match["only"], own))
        and (match["even"] is not None) == (rule == "lose" and own == top)
        and (match["others"] is not None) == (rule != "lose" and own == top and report.winner != report.truth)
    )


def missed(match: re.Match[str], report: TrialReport, decoder: Any) -> bool:
    finalists = finalists_of(report, decoder)
    poll = table_of(list(report.rounds[0]), list(range(report.n)), asked=True)
    own, cut = poll.points[report.truth], sorted(poll.points.values(), reverse=True)[decoder.k - 1]
    at_cut = [label for label, points in poll.points.items() if points == cut]
    places = decoder.k - sum(points > cut for points in poll.points.values())
    if report.truth in finalists or int(match["truth"]) != report.truth or own > cut:
        return False
    if not record_holds(match["record"], own, poll.most, asked=True) or (match["cut"] is None) != (own == cut):
        return False
    if match["cut"] and whole(match["cut"]) != cut:
        return False
    if match["there"] and (whole(match["at"]), whole(match["places"])) != (len(at_cut), places):
        return False
    if not match["cut"]:
        rules = {"random": "the draw left it out", "lose": "ties lose, so none of them got in"}
        told = read_list(match["same"], [label for label in at_cut if label != report.truth])
        told = told and (whole(match["size"]), whole(match["open"])) == (len(at_cut), places)
        if not told or match["rule"] != rules.get(decoder.ties, "the lowest numbers got in"):
            return False
    ends = {
        "Nobody reached the final, so nobody was named.": not finalists,
        "The final ended in a tie; ties lose, so nobody was named.": report.winner is None and len(finalists) > 1,
        f"Only class {report.winner} reached it and was named.": finalists == [report.winner],
        f"Class {report.winner} won the final.": report.winner in finalists and len(finalists) > 1,
    }
    return ends.get(match["end"], False)


def named_as_told(text: str, report: TrialReport) -> bool:
    return text == ("nobody was named" if report.winner is None else f"class {report.winner} was named")


def own_queries(report: TrialReport) -> list[tuple[int, Query]]:
    """Return (round from 1, query) of the queries with the true class."""
    told = enumerate(report.rounds, start=1)
    return [(number, query) for number, round_ in told for query in round_ if query.right is not None]


def knocked_out(match: re.Match[str], report: TrialReport, decoder: Any) -> bool:
    losses = Counter(query.loser for queries in report.rounds for query in queries)
    number, last = own_queries(report)[-1]
    return (
        int(match["truth"]) == report.truth != report.winner
        and last.right is False
        and last.winner == int(match["rival"])
        and (number, len(report.rounds)) == (whole(match["round"]), whole(match["rounds"]))
        and all(losses[label] == (label != report.winner) for label in range(report.n))
        and named_as_told(match["named"], report)
    )


def last_lost(match: re.Match[str], report: TrialReport, decoder: Any) -> bool:
    own = own_queries(report)
    number, last = own[-1]
    return (
        int(match["truth"]) == report.truth
        and last.right is False
        and last.winner == int(match["rival"])
        and (number, len(report.rounds)) == (whole(match["round"]), whole(match["rounds"]))
        and [each for each, _ in own].count(number) == 1
        and fate_holds(match, report)
    )


def fate_holds(match: re.Match[str], report: TrialReport) -> bool:
    """Return whether the record of the true class, and who was named instead of it, are as told."""
    own = own_queries(report)
    wins = sum(bool(query.right) for _, query in own)
    told = record_holds(match["record"], wins, len(own), asked=False) if match["record"] else not own
    return told and report.winner != report.truth and named_as_told(match["named"], report)


def plain(match: re.Match[str], report: TrialReport, decoder: Any) -> bool:
    return int(match["truth"]) == report.truth and fate_holds(match, report)


def right_by_queries(match: re.Match[str], report: TrialReport, decoder: Any) -> bool:
    own = own_queries(report)
    wins = sum(bool(query.right) for _, query in own)
    named = int(match["truth"]) == report.truth == report.winner
    return named and (record_holds(match["record"], wins, len(own), asked=False) if match["record"] else not own)


def form(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts))


RIGHT = r"class (?P<truth>\d+) is the true class and was named: it "
LOST = r"(?P<prefix>the true class (?P<lost>\d+) lost in the final: )?"
ROUND = rf"in round (?P<round>{NUMBER}) of (?P<rounds>{NUMBER})"

BY_SCORES = {
    form(
        rf"{RIGHT}(?P<record>{RECORD})(?P<place> in the final| in the poll)?",
        r"(?:(?P<alone> and had no rival|, and nobody else reached the final)|",
        rf", the runners?-up \((?P<behind>{LIST})\) (?P<second>{NUMBER})(?P<each> each)?)\.",
    ): right_by_scores,
    form(
        rf"{LOST}class (?P<winner>\d+) (?P<record>{RECORD}), the true class (?P<truth>\d+) (?P<only>{ONLY})\.",
    ): beaten,
    form(
        rf"{LOST}(?P<leaders>{LIST}) share the top score (?P<top>{NUMBER})(?: in the final)?; ",
        r"(?:the draw fell on (?P<drawn>\d+)(?P<right>, the true class)?|ties lose, so nobody was named|",
        r"the lowest number wins a tie, so class (?P<first>\d+)(?P<right2>, the true class,)? was named)",
        r"(?:, not even the true class (?P<even>\d+)|, not (?:on )?the true class (?P<others>\d+)|",
        rf"\. The true class (?P<low>\d+) won (?P<only>{ONLY}))?\.",
    ): tied,
    form(
        rf"the true class (?P<truth>\d+) did not reach the final: it (?P<record>{RECORD}), ",
        rf"(?:the cut was at (?P<cut>{NUMBER})(?P<there>, where (?P<at>{NUMBER}) classes stood ",
        rf"for (?P<places>{NUMBER}) places?, and ties lose)?|as did (?P<same>{LIST}): (?P<size>{NUMBER}) classes ",
        rf"for (?P<open>{NUMBER}) places?, and (?P<rule>[^.]+))\. (?P<end>.+)",
    ): missed,
}
BY_QUERIES = {
    form(
        rf"the true class (?P<truth>\d+) lost to class (?P<rival>\d+) {ROUND} and was out; (?P<named>.+)\.",
    ): knocked_out,
    form(
        rf"the true class (?P<truth>\d+) lost its last query, to class (?P<rival>\d+) {ROUND}, ",
        rf"and was not asked again: it (?P<record>{RECORD}); (?P<named>.+)\.",
    ): last_lost,
    form(rf"{RIGHT}(?:(?P<record>{RECORD})|was in no query)\."): right_by_queries,
    form(
        rf"(?P<named>[^;]+); the true class (?P<truth>\d+) (?:(?P<record>{RECORD})|was in no query)\.",
    ): plain,
}


def claims_hold(reason: str, report: TrialReport, decoder: Decoder) -> bool:
    """Return whether a reason has a known form and everything it says is true of the report."""
    for pattern, holds in (BY_SCORES if type(decoder) in (MaxWin, Poll, TopK) else BY_QUERIES).items():
        match = pattern.fullmatch(reason)
        if match:
            return holds(match, report, decoder)
    return False
