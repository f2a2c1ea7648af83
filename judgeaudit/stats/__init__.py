"""Estimators and intervals on arrays: numpy and scipy in, numbers out."""
