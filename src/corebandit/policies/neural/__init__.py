"""Policies whose model is a network, in PyTorch, which is imported when one of them starts."""
