"""Adaptors for other packages; each needs that package."""
