"""The same plain classes on a GPU: the only room that knows numba-cuda."""
