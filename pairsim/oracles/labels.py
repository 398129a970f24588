"""Class numbers carry no information where all wrong classes are alike: how decoders that read them act there."""

from __future__ import annotations

from pairsim.decoders import REGISTRY, Decoder
from pairsim.decoders.relabelled import Relabelled
from pairsim.oracles.base import Oracle


def without_labels(oracle: Oracle, decoder: Decoder) -> Decoder:
    """Return the decoder that acts on `oracle` as `decoder` does when the classes are relabelled at random.

    `Uniform` and `Ranked` number the true class 0, which says nothing about a real data point: its class can have any
    number. A decoder that reads class numbers would profit from it: ties="first" would count a tie as a success. So the
    classes are numbered at random in each trial. Where a rule without numbers does the same in distribution, it stands
    in: the first of the tied classes is one of them drawn at random, and the given order is a random order.

    Where the oracle tells its classes apart (`Similarity`, `Matrix`, `Recorded`), their numbers are its own, and the
    decoder is returned as it is.

    Examples
    --------
    >>> from pairsim import Adag, Halving, Matrix, MaxWin, Uniform
    >>> from pairsim.oracles.labels import without_labels
    >>> without_labels(Uniform(8, 0.9), MaxWin(ties="first")), without_labels(Uniform(8, 0.9), Adag("given"))
    (MaxWin(ties='random'), Adag(order='random'))
    >>> without_labels(Uniform(8, 0.9), Halving(ties="first"))
    Relabelled(rules=Halving(l='log', ties='first'))
    >>> without_labels(Matrix(Uniform(8, 0.9).matrix()), MaxWin(ties="first"))
    MaxWin(ties='first')
    """
    if not oracle.exchangeable or not decoder.reads_labels:
        return decoder
    # by exact type: in a subclass the rules may be others
    twin = decoder.label_free(oracle.n) if REGISTRY.get(decoder.name) is type(decoder) else None
    return Relabelled(decoder) if twin is None else twin
