"""Renderers: verdicts and findings as text for people and for CI. Values in, text out."""
