"""Attacks on systems that answer from documents: what is planted, and how raters lie. One file each."""
