"""Random bits, the laws drawn from them, and the stream that policies are given."""
