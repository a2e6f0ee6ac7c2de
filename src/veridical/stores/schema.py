"""The one schema, in SQLAlchemy Core. Change it only together with a migration in ``stores/migrations``.

Truth: ``settings``, ``documents``, ``passages``, ``feedback``, ``questions``, ``answers`` and what an answer
holds: ``answer_documents``, ``answer_candidates``, ``candidate_documents``.
Derived, and rebuilt from the truth at any time: ``vectors``, ``sentence_vectors``, ``signatures``,
``passage_keys``, ``neighbours``, ``judgements``, ``question_vectors``, ``question_pools``, ``readings``,
``question_pairs``, ``made_questions``, ``triples``, ``extractions``, ``triple_vectors``, ``credibilities``,
``passage_credibilities``, ``trust``, ``state``. Offsets in ``judgements``, ``readings``, ``question_pairs``
and ``triples`` are into the passage.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _passage(name: str, *, index: bool = False) -> sa.Column[int]:
    cascade = sa.ForeignKey("passages.id", ondelete="CASCADE")
    return sa.Column(name, cascade, primary_key=True, index=index)


def _question() -> sa.Column[int]:
    return sa.Column("question_id", sa.ForeignKey("questions.id", ondelete="CASCADE"), primary_key=True)


settings = sa.Table(
    "settings",
    metadata,
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

state = sa.Table(
    "state",
    metadata,
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

documents = sa.Table(
    "documents",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False, unique=True),
    sa.Column("version", sa.String(64), nullable=False, index=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("text_hash", sa.String(32), nullable=False, index=True),
    sa.Column("source", sa.String, index=True),
    sa.Column("url", sa.Text),
    sa.Column("date", sa.String(10)),
    sa.Column("format", sa.String(16), nullable=False),
    sa.Column("origin", sa.Text),
    sa.Column("metadata", sa.JSON, nullable=False),
    sqlite_autoincrement=True,  # an id is never used twice, so d12 in an old answer can mean nothing else
)

passages = sa.Table(
    "passages",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("document_id", sa.ForeignKey("documents.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("text_hash", sa.String(32), nullable=False, index=True),
    sa.Column("index_hash", sa.String(32), nullable=False),  # of title and text, as the indexes see it
    sqlite_autoincrement=True,
)

vectors = sa.Table(
    "vectors",
    metadata,
    _passage("passage_id"),
    sa.Column("encoder", sa.String, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float16
)

sentence_vectors = sa.Table(
    "sentence_vectors",
    metadata,
    _passage("passage_id"),
    sa.Column("encoder", sa.String, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float16, one row a sentence in order
)

passage_keys = sa.Table(
    "passage_keys",
    metadata,
    _passage("passage_id"),
    sa.Column("version", sa.String, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),  # int64, hashes of the names, numbers and dates in it
)

neighbours = sa.Table(
    "neighbours",
    metadata,
    _passage("passage_id"),
    _passage("neighbour_id", index=True),
    sa.Column("similarity", sa.Float, nullable=False),
)

judgements = sa.Table(
    "judgements",
    metadata,
    _passage("low_passage"),
    _passage("high_passage", index=True),
    sa.Column("model", sa.String, primary_key=True),
    sa.Column("entailment", sa.Float, nullable=False),
    sa.Column("contradiction", sa.Float, nullable=False),
    sa.Column("low_start", sa.Integer),
    sa.Column("low_end", sa.Integer),
    sa.Column("high_start", sa.Integer),
    sa.Column("high_end", sa.Integer),
)

feedback = sa.Table(
    "feedback",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False, index=True),
    sa.Column("version", sa.String(64), nullable=False, index=True),
    sa.Column("value", sa.Float, nullable=False),
    sa.Column("weight", sa.Float, nullable=False),
    sa.Column("by", sa.String, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("at", sa.String, nullable=False),
    sa.Column("answer_id", sa.Integer),
    sa.Column("undone_at", sa.String),
    sa.Column("candidate", sa.Integer),  # number of the candidate answer that was judged, as in a1.2
    sqlite_autoincrement=True,
)

answers = sa.Table(
    "answers",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("method", sa.String, nullable=False),
    sa.Column("generator", sa.String, nullable=False),
    sa.Column("at", sa.String, nullable=False),
    sqlite_autoincrement=True,
)

answer_documents = sa.Table(
    "answer_documents",
    metadata,
    sa.Column("answer_id", sa.ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("rank", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False, index=True),
    sa.Column("version", sa.String(64), nullable=False),
    sa.Column("cited", sa.Boolean(create_constraint=False), nullable=False),
)

answer_candidates = sa.Table(
    "answer_candidates",
    metadata,
    sa.Column("answer_id", sa.ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("weight", sa.Float, nullable=False),
    sa.Column("probability", sa.Float, nullable=False),
)

candidate_documents = sa.Table(
    "candidate_documents",
    metadata,
    sa.Column("answer_id", sa.Integer, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, primary_key=True, index=True),
    sa.Column("version", sa.String(64), nullable=False),
    sa.Column("part", sa.Float, nullable=False),
    sa.ForeignKeyConstraint(
        ["answer_id", "number"],
        ["answer_candidates.answer_id", "answer_candidates.number"],
        ondelete="CASCADE",
    ),
)

questions = sa.Table(
    "questions",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("text_hash", sa.String(32), nullable=False, unique=True),  # whatever its case and spaces
    sa.Column("origin", sa.String(16), nullable=False),  # asked, file
    sa.Column("at", sa.String, nullable=False),
    sa.Column("n_asked", sa.Integer, nullable=False),
    sqlite_autoincrement=True,
)

question_vectors = sa.Table(
    "question_vectors",
    metadata,
    _question(),
    sa.Column("encoder", sa.String, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float16
)

question_pools = sa.Table(
    "question_pools",
    metadata,
    _question(),
    _passage("passage_id", index=True),
    sa.Column("similarity", sa.Float, nullable=False),
)

readings = sa.Table(
    "readings",
    metadata,
    _question(),
    _passage("passage_id", index=True),
    sa.Column("reader", sa.String, primary_key=True),
    sa.Column("no_answer", sa.Float, nullable=False),
    sa.Column("answers", sa.JSON, nullable=False),  # [[text, start, end, probability], ...]
)

question_pairs = sa.Table(
    "question_pairs",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("low_passage", sa.ForeignKey("passages.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("high_passage", sa.ForeignKey("passages.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("question_id", sa.ForeignKey("questions.id", ondelete="CASCADE"), index=True),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("origin", sa.String(16), nullable=False),  # asked (also from a file), made
    sa.Column("asker", sa.Integer, nullable=False),  # the passage a made question was made of; else 0
    sa.Column("reader", sa.String, nullable=False),
    sa.Column("support", sa.Float, nullable=False),
    sa.Column("contradiction", sa.Float, nullable=False),
    sa.Column("low_answer_start", sa.Integer),
    sa.Column("low_answer_end", sa.Integer),
    sa.Column("high_answer_start", sa.Integer),
    sa.Column("high_answer_end", sa.Integer),
    sa.UniqueConstraint("low_passage", "high_passage", "question", "reader", "asker"),
)

made_questions = sa.Table(
    "made_questions",
    metadata,
    sa.Column("document_id", sa.ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("stamp", sa.String(32), nullable=False),  # of all that its questions were made from
)

signatures = sa.Table(
    "signatures",
    metadata,
    sa.Column("document_id", sa.ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # uint32, MinHash
)

trust = sa.Table(
    "trust",
    metadata,
    sa.Column("method", sa.String, primary_key=True),
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("raw", sa.Float, nullable=False),
    sa.Column("trust", sa.Float),
)

triples = sa.Table(
    "triples",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("passage_id", sa.ForeignKey("passages.id", ondelete="CASCADE"), nullable=False),
    sa.Column("extractor", sa.String, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("head", sa.Text, nullable=False),
    sa.Column("relation", sa.Text, nullable=False),
    sa.Column("tail", sa.Text, nullable=False),
    sa.Column("sentence_start", sa.Integer, nullable=False),
    sa.Column("sentence_end", sa.Integer, nullable=False),
    sa.UniqueConstraint("passage_id", "extractor", "ordinal"),  # by which they are found, too
    sqlite_autoincrement=True,  # so that a credibility or a trace can mean no other triple
)

extractions = sa.Table(
    "extractions",
    metadata,
    _passage("passage_id"),
    sa.Column("extractor", sa.String, primary_key=True),
    sa.Column("n_triples", sa.Integer, nullable=False),
    sa.Column("problem", sa.Text),
)

triple_vectors = sa.Table(
    "triple_vectors",
    metadata,
    _passage("passage_id"),
    sa.Column("extractor", sa.String, primary_key=True),
    sa.Column("encoder", sa.String, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float16, one row a triple in order
)

credibilities = sa.Table(
    "credibilities",
    metadata,
    sa.Column("triple_id", sa.ForeignKey("triples.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("judge", sa.String, primary_key=True),
    sa.Column("value", sa.Float),  # in [0, 1]; null where the judge gave nothing usable
)

passage_credibilities = sa.Table(
    "passage_credibilities",
    metadata,
    _passage("passage_id"),
    sa.Column("judge", sa.String, primary_key=True),
    sa.Column("value", sa.Float),  # as above
)
