"""Reports of a comparison: from rows to tables, figures and verdicts, as Markdown and as one HTML page."""
