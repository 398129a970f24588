"""Experiments: scripts that use pairsim's public API only. Nothing imports them."""
