"""Schema migrations, run when a knowledge base is opened."""
