"""Predicting with one-vs-one models: decoders on margins, calibration, lazy evaluation."""
