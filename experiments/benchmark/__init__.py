"""How fast pairsim is, as ratios against baselines that run in the same process, one after the other."""
