"""Failures, checkpoints, goodput and elastic rescale."""
