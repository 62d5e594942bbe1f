"""Statistics: pure functions of arrays, which know nothing of policies, experiments or agents."""
