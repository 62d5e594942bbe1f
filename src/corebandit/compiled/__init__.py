"""The only room that knows numba: plain classes run compiled, and machine code on disk."""
