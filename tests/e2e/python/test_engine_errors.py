"""What becomes of an error of the engine: its traceback is in the adapter's log, and the client hears of it once."""

from pathlib import Path

from dapkit.client import Session
from e2e.python.adapter_client import ADAPTER, AdapterClient

ENGINE = "__import__('_codecs').lookup_error('dapkit.engine')('connection.current_engine').engine"


async def test_traceback_of_an_engine_error_goes_to_the_log_of_the_adapter(tmp_path: Path) -> None:
    log = tmp_path / "adapter.log"
    async with Session.spawn([*ADAPTER, "--log", str(log)]) as session:
        driver = AdapterClient(session, tmp_path)
        await driver.start("x = 1\nprint(x)\n", 2)
        await session.next_stop()
        [frame, *_] = await driver.frames()
        for _ in range(2):
            await session.evaluate(f"{ENGINE}.link.soon(lambda: 1 / 0)", frame_id=frame.id)
        await driver.resume()
        shown = driver.output("stderr")
    text = log.read_text()
    assert text.count("inside the program: an action of the link's thread: ZeroDivisionError: division by zero\n") == 2
    assert "in Link._run" in text
    assert (
        shown == "Internal error of the debugger: ZeroDivisionError: division by zero at line 1 of <dapkit: evaluate>\n"
    )
