"""The session as a text and a page to read: actions, stops, changed values, output."""

from dapkit.diagnostics.transcript.content import Transcript
from dapkit.diagnostics.transcript.files import WrittenTranscript, write, write_to
from dapkit.diagnostics.transcript.html_page import as_html
from dapkit.diagnostics.transcript.markdown import as_markdown
from dapkit.diagnostics.transcript.reading import transcript_from, transcript_of

__all__ = [
    "Transcript",
    "WrittenTranscript",
    "as_html",
    "as_markdown",
    "transcript_from",
    "transcript_of",
    "write",
    "write_to",
]
