"""The bundled demo: the documents of an invented company, ten questions and six pieces of feedback."""
