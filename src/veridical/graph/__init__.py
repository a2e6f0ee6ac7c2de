"""Relations between documents: which pairs to look at, what they say of each other, and the arrays of it."""
