from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings

# The first example of a test may load a parser, so examples have no time limit of their own.
settings.register_profile("corpus", deadline=None)
settings.load_profile("corpus")


def build_pdf(objects: list[bytes]) -> bytes:
    """Write a PDF by hand: the objects in order, the catalogue first and the information last."""
    data = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    n = len(objects) + 1
    xref = b"xref\n0 %d\n0000000000 65535 f \n%s" % (n, table)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (n, n - 1)
    return data + xref + trailer + b"startxref\n%d\n%%%%EOF\n" % len(data)


def pdf_of_pages(*pages: list[str], information: bytes = b"<< >>") -> bytes:
    """Return a PDF with a page for each list of lines."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, lines in enumerate(pages):
        shown = b" T* ".join(b"(%s) Tj" % line.encode("latin-1") for line in lines)
        content = b"BT /F1 12 Tf 14 TL 72 720 Td %s ET" % shown
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (5 + 2 * i)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return build_pdf([*objects, information])


@pytest.fixture(scope="session")
def make_pdf() -> Callable[..., bytes]:
    return pdf_of_pages
