"""What a process of ours imports, and what it leaves for later."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dapkit
from interpreters import interpreter


def run(code: str, python: str = sys.executable) -> None:
    """Run code in an interpreter of its own, which has imported nothing yet."""
    ran = subprocess.run(
        [python, "-W", "error", "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(Path(dapkit.__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_ssl_is_not_loaded_by_asyncio_nor_anyio_once_it_is_postponed() -> None:
    run("""
        import sys
        from dapkit.system.gc_freeze import postpone_ssl
        postpone_ssl()
        import anyio, anyio.abc, asyncio
        import anyio.streams.tls

        anyio.run(anyio.sleep, 0)
        assert "_ssl" not in sys.modules
        assert "anyio._backends._asyncio" in sys.modules
    """)


def test_postponed_ssl_is_the_real_one_when_it_is_used() -> None:
    run("""
        from dapkit.system.gc_freeze import postpone_ssl
        postpone_ssl()
        import anyio.streams.tls, ssl
        from ssl import MemoryBIO

        context = ssl.create_default_context()
        assert type(context) is ssl.SSLContext
        assert isinstance(context, anyio.streams.tls.SSLContext)
        assert anyio.streams.tls.SSLContext(ssl.PROTOCOL_TLS_CLIENT).check_hostname
        assert MemoryBIO().write(b"four") == 4
        assert not hasattr(ssl, "nothing")
    """)


@pytest.mark.parametrize("first", ["ssl", "asyncio"])
def test_modules_that_are_there_already_stay_as_they_are(first: str) -> None:
    run(f"""
        import {first}, sys
        from dapkit.system.gc_freeze import postpone_ssl
        before = dict(sys.modules)
        postpone_ssl()
        import asyncio.sslproto, ssl
        assert asyncio.sslproto.ssl is ssl
        assert before.items() <= sys.modules.items()
    """)


def test_postponed_class_that_is_asked_something_is_the_real_one() -> None:
    run("""
        import sys
        from dapkit.system.gc_freeze import postpone_ssl
        postpone_ssl()
        from ssl import SSLContext
        assert "_ssl" not in sys.modules
        assert SSLContext.sslsocket_class.__name__ == "SSLSocket"
        assert "_ssl" in sys.modules
    """)


def test_modules_import_others_when_they_use_them_on_python_3_15() -> None:
    code = """
        import sys
        from dapkit.system.gc_freeze import import_when_used
        import_when_used()
        import json
        assert "json" not in sys.modules
        assert json.loads("3") == 3
        assert "json" in sys.modules
    """
    run(code, str(interpreter("3.15")))


def test_import_when_used_leaves_imports_as_they_are_before_python_3_15() -> None:
    code = """
        import sys
        from dapkit.system.gc_freeze import import_when_used
        import_when_used()
        import json
        assert "json" in sys.modules
    """
    run(code, str(interpreter("3.14")))
