"""A study on paper: documents, checks, plan, bodies, stages, costs. Values in, values out."""
