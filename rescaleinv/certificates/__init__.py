"""Certificates: what is claimed of a point, with evidence that ``rescaleinv.verify`` checks."""
