"""Actions on debug sessions for coding agents and scripts.

Python programs use the functions of `dapkit.agent.api`. Nothing is imported here: the
command line has only milliseconds, and needs nothing but `dapkit.agent.table`.

    from dapkit.agent import api

    stop = api.launch(program="app.py", breakpoints=["app.py:12"]).result.stop
    print(api.evaluate("total"))
    api.terminate()
"""
