"""Output codes: code tables, binary problems of their columns, and decoding."""
