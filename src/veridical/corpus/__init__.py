"""Reading files into documents and cutting them into passages."""
