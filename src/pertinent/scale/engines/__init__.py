"""Thin adapters: each hands `pertinent.scale.explain_batches` to one engine's own scheduler."""
