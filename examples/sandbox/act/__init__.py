"""act as this project uses it: a clean environment, typed events, proof that every job ran."""
