"""Replays recorded runs through the predictor, and scores what it would have forecast."""
