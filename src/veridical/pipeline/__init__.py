"""The jobs that users ask for, each made of the packages below: ingest, build, ask, feedback, explain."""
