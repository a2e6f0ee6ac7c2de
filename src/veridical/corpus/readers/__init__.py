"""One reader for each format: bytes in, what the document says out."""
