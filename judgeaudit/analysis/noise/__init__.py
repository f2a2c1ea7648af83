"""How large the noise is beside what is to be told apart: gaps, components, sizing."""
