"""From relevance and trust to an order of the evidence."""
