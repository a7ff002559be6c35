"""Memory requests learned from what jobs really used."""
