"""The parts of the type checker; `spec.typecheck` is its door."""
