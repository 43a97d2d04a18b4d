"""Tests of what only Linux has: a run with `DAPKIT_SYSTEM=posix` leaves them out.

`docs/reference/platforms.md` names each of these features.
"""

from fnmatch import fnmatchcase
from typing import Final

FEATURES: Final = {
    "time travel and recordings": (
        "tests/e2e/python/test_backward_jumps.py::*",
        "tests/e2e/python/test_branches.py::*",
        "tests/e2e/python/test_history_*",
        "tests/e2e/python/test_recorded_forks.py::*",
        "tests/e2e/python/test_recorded_processes.py::*",
        "tests/e2e/python/test_recordings.py::*",
        "tests/e2e/python/test_replay.py::*",
        "tests/e2e/python/test_time_travel.py::*",
        "tests/e2e/python/test_travel_*",
        "tests/e2e/python/test_why*",
        "tests/e2e/python/test_data_breakpoints.py::*time travel*",
        "tests/e2e/python/test_data_breakpoints.py::*time_travel*",
        "tests/e2e/python/test_pytest_plugin.py::*",
        "tests/e2e/python/test_newer_versions.py::test_newer_version_has_no_time_travel",
        "tests/e2e/python/test_refusals.py::test_time_travel_without_the_extension_is_refused*",
        "tests/e2e/python/test_refusals.py::test_recording_without_the_extension_is_refused",
        "tests/e2e/agent/test_trace_and_autopsy.py::test_recorded_history_*",
        "tests/e2e/agent/test_trace_and_autopsy.py::test_member_that_the_line_reads_*",
        "tests/e2e/agent/test_trace_and_autopsy.py::test_suite_of_tests_is_explained_*",
        "tests/e2e/agent/test_python.py::test_why_and_timeline_tell_of_a_recorded_history",
        "tests/e2e/agent/test_python.py::test_a_program_without_a_recorded_history_says_how_to_have_one",
        "tests/e2e/agent/test_python.py::test_time_travel_is_a_parameter_of_launch",
        "tests/e2e/agent/test_faults_of_other_tools.py::test_every_parameter_of_a_launch_is_understood",
        "tests/e2e/matrix/test_matrix.py::*dapkit: Python]",  # its launch asks for time travel
    ),
    "attaching to a process by its number, and stacks of a process that runs": (
        "tests/e2e/python/test_attach_to_process.py::*",
        "tests/e2e/python/test_stacks_of_*",
        "tests/e2e/python/test_newer_versions.py::test_running_program_is_refused_*",
        "tests/e2e/python/test_refusals.py::test_process_that_is_not_there_is_refused",
        "tests/e2e/agent/test_stacks.py::test_process_is_*",
        "tests/e2e/agent/test_trace_and_autopsy.py::test_process_is_followed_to_its_crash",
        "tests/unit/python/test_native_debugger.py::test_old_gdb_*",
        "tests/e2e/diagnostics/test_memory.py::test_memray_*",
        "tests/e2e/diagnostics/test_memory.py::test_program_that_stops_at_a_breakpoint_meanwhile_*",
        "tests/e2e/diagnostics/test_memory.py::test_program_that_ends_meanwhile_*",
        "tests/e2e/diagnostics/test_memory.py::test_program_with_a_profile_function_is_refused",
        "tests/e2e/diagnostics/test_profiles_by_interpreter.py::test_threads_of_3_15_*",
    ),
    "`os.fork` does not warn of a thread of the debugger": (
        "tests/e2e/engine/test_session.py::test_many_forks_leave_the_link_alive*",
        "tests/e2e/engine/test_descriptors.py::test_program_may_block_signals_and_wait_for_them*",
        "tests/e2e/engine/test_fork.py::test_nothing_of_ours_acts_in_children_of_any_generation*",
        "tests/e2e/engine/test_fork.py::test_pauses_at_any_moment_around_forks_stop_the_program*",
    ),
    "the standard input of `dapkit launch` reaches the program": (
        "tests/unit/cli/test_actions.py::test_standard_input_of_the_command_is_named_for_another_process*",
    ),
    "jobs of many processes": ("tests/unit/cluster/*", "tests/e2e/cluster/*"),
    "orphans of a program become children of its supervisor": (
        "tests/e2e/python/test_supervisor.py::*",
        "tests/e2e/python/test_jobs.py::*parent in C*",
    ),
    "log messages need no marks in the program's output": (
        "tests/unit/debuggee/connection/test_output_marks.py::*",
        "tests/unit/python/test_marked_output.py::*",
        "tests/e2e/python/test_log_order.py::test_log_messages_with_nothing_between_them_have_no_marks*",
    ),
    "whether the main thread sleeps": (
        "tests/e2e/python/test_endings.py::test_interrupt_that_a_wait_has_not_noticed_is_sent_again*",
    ),
    "containers and other users": (
        "tests/e2e/python/test_remote.py::test_files_that_only_the_other_machine_has_*",
        "tests/e2e/python/test_sudo.py::*",
        "tests/e2e/transport/test_unix.py::test_other_user_*",
        "tests/e2e/hub/test_client.py::test_socket_that_another_user_holds_is_not_talked_to",
        "tests/unit/mcp/test_wire_listener.py::test_another_user_*",
    ),
    "the process at the other end of a unix socket, before it has sent anything": (
        "tests/e2e/hub/test_client.py::test_stop_kills_a_hub_that_answers_nothing",
    ),
    "a stranger at the port of an adapter is seen at once, and not only when the time is over": (
        "tests/e2e/transport/test_child_on_socket.py::test_process_that_is_quicker_*",
    ),
    "paths of sockets of 104 to 107 bytes": (
        "tests/unit/hub/test_folder.py::test_folder_is_in_the_runtime_folder_of_the_user",
        "tests/unit/hub/test_folder.py::test_folder_that_is_too_long_for_a_socket_is_refused",
        "tests/unit/transport/test_private_files.py::test_folder_is_made_in_the_runtime_folder_of_the_user",
    ),
    "facts from /proc": (
        "tests/unit/test_procfs.py::*",
        "tests/unit/system/test_systems.py::*Linux*",
        "tests/unit/hub/test_wire.py::test_way_to_the_hub_brings_in_nothing_slow",  # taking Linux away does
        "tests/unit/test_runtime_folder.py::*",  # some make a folder in /proc
        "tests/unit/test_trusted_files.py::test_group_may_write_only_if_nobody_else_is_in_it",
        "tests/e2e/python/test_side_by_side.py::test_program_that_a_library_runs_*",  # debugpy stops in their script
        "tests/unit/test_platform_support.py::*",  # take Linux away by themselves
        "tests/unit/diagnostics/test_system.py::test_machine_versions_*",
        "tests/e2e/python/test_command_line.py::test_launch_without_a_folder_for_sockets_*",
    ),
}
"""Patterns of tests by the feature that other systems lack."""


def needs_linux(test: str) -> bool:
    """Return whether a test, by its node id, shows what only Linux has."""
    return any(fnmatchcase(test, pattern) for patterns in FEATURES.values() for pattern in patterns)
