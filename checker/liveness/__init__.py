"""Properties of infinite runs: as systems for the engines, their proofs, and the fairness that they take."""
