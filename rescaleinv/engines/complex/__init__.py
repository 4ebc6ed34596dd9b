"""Enumeration of the closure of all rescaled SVMs: vertices once per training set, then a matrix product."""
