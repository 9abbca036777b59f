"""Machines for GitHub Actions workflows: claimed when needed, always given back."""

__version__ = "0.1.0"
