"""Formulas, clauses and solvers."""
