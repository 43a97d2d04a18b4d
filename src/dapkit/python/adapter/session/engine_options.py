"""The engine's options from launch and attach arguments, by the engine's names."""

from dapkit.python.adapter.children.children import Children
from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch

_RELOADER_EXITS = 3
"""The exit code by which reloaders of web frameworks have the program started anew."""


def engine_options(args: PythonLaunch | PythonAttach, children: Children) -> dict[str, object]:
    """Return the options of a session with the engine."""
    options: dict[str, object] = {
        "justMyCode": args.just_my_code is not False,
        "stopAllThreads": args.stop_all_threads,
        "rules": list(args.rules),
        "showReturnValue": args.show_return_value,
        "evaluateTimeout": args.evaluate_timeout,
        "steppingResumesAllThreads": args.stepping_resumes_all_threads,
        "maxExceptionStackFrames": args.max_exception_stack_frames,
        "jinja": args.jinja or args.flask,
        "django": args.django,
        **_exit_codes(args),
    }
    travels = isinstance(args, PythonLaunch) and args.travels
    if children.listener_path is not None and not travels:
        options["children"] = str(children.listener_path)
    options["announcesChildren"] = children.announced and not travels
    options["endsWithLink"] = children.end_with_us
    if args.auto_reload is not None:
        options["autoReload"] = args.auto_reload
    if args.gui_event_loop:
        options["guiEventLoop"] = args.gui_event_loop
    if args.presenters and isinstance(args, PythonAttach):  # options of a launch are found with its command
        options["presenters"] = list(args.presenters)
    if args.variable_presentation is not None:
        options["variablePresentation"] = args.variable_presentation
    match args:
        case PythonLaunch(no_debug=True):
            options["noDebug"] = True
        case PythonLaunch(stop_on_entry=True):
            options["stopOnEntry"] = True
    in_terminal = isinstance(args, PythonAttach) or args.console != "internalConsole"
    if in_terminal and args.redirect_output:
        options["redirectOutput"] = True
    return options


def _exit_codes(args: PythonLaunch | PythonAttach) -> dict[str, object]:
    """Return the exit codes to stop at, or else those that pass."""
    if args.break_on_system_exit is not None:
        return {"breakOnSystemExit": list(args.break_on_system_exit)}
    if args.break_on_system_exit_zero:
        return {"quietExitCodes": []}
    of_framework = [_RELOADER_EXITS] if args.django or args.flask or args.jinja else []
    return {"quietExitCodes": [0, None, *of_framework]}
