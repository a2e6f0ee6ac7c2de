"""Pages for a browser: each one file without anything from elsewhere, every text in it escaped."""
