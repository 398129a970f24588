"""A package as a user would write it: a decoder and a correlated oracle that nothing in pairsim knows of."""
