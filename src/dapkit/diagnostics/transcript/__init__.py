"""The session as a text and a page to read: what was done, where the program stood, what changed, what it wrote."""

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
