"""From retrieved passages to an answer whose citations were checked in code."""
