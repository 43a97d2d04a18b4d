"""Tests of what Windows, or dapkit on Windows, does not have: a run there leaves them out.

`docs/reference/platforms.md` names each of these features.
"""

from fnmatch import fnmatchcase
from typing import Final

FEATURES: Final = {
    "packages of the test machine": (
        "tests/unit/adapter/test_typing.py::*",
        "tests/e2e/hub/test_client.py::test_version_is_that_of_the_package",
        "tests/e2e/agent/*gdb]",
        "tests/e2e/agent/*lldb-dap]",
        "tests/e2e/agent/test_trace_and_autopsy.py::*[gdb*",
        "tests/e2e/agent/test_trace_and_autopsy.py::*[dlv*",
        "tests/unit/agent/test_registry.py::test_the_table_is_what_the_registry_says",
    ),
    "modes and owners of files, links, and pipes with names": (
        "tests/unit/transport/test_private_files.py::*of_another_user_is_refused",
        "tests/unit/transport/test_private_files.py::*open_to_others*",
        "tests/unit/transport/test_private_files.py::test_folder_is_made_in_the_runtime_folder_of_the_user",
        "tests/unit/transport/test_private_files.py::test_folder_is_private_whatever_the_umask",
        "tests/unit/transport/test_private_files.py::test_folder_below_one_where_everybody_may_write_is_refused",
        "tests/unit/transport/test_private_files.py::test_link_to_a_private_folder_is_refused",
        "tests/unit/transport/test_private_files.py::test_token_is_not_waited_for_at_a_named_pipe",
        "tests/unit/transport/test_private_files.py::test_token_of_a_port_is_there_*",
        "tests/e2e/hub/test_client.py::test_socket_that_another_user_holds_is_not_talked_to",
        "tests/e2e/hub/test_client.py::test_files_of_a_project_that_never_end_keep_nobody_waiting",
        "tests/unit/hub/test_daily_log.py::*",
        "tests/unit/hub/test_folder.py::*",
        "tests/unit/hub/test_project.py::test_links_lead_to_one_project",
        "tests/e2e/engine/test_breakpoints.py::test_symbolic_link_and_relative_name_mean_the_same_file*",
        "tests/e2e/engine/test_stops.py::*",
        "tests/e2e/engine/test_threads.py::test_stack_of_a_running_loop_shows_what_it_waits_in*",
        "tests/e2e/engine/test_threads.py::test_thread_inside_another_interpreter_*",
        "tests/e2e/engine/test_threads.py::test_thread_in_a_native_call_ends_when_that_returns*",
        "tests/e2e/engine/test_threads.py::test_main_and_unknown_threads_are_not_ended*",
        "tests/e2e/engine/test_inline_breakpoints.py::test_locations_of_what_cannot_be_read_are_refused_*",
        "tests/e2e/python/test_values.py::test_presenters_that_the_project_names_are_used",
        "tests/unit/python/test_presenter_files.py::test_files_are_those_of_the_nearest_project_*",
        "tests/unit/transport/test_recorder.py::test_full_disk_*",
        "tests/unit/transport/test_recorder.py::test_transcript_is_for_its_owner_only",
    ),
    "paths that begin with a slash, programs without an ending, and lines that end with one character": (
        "tests/unit/client/test_blocking.py::test_a_command_that_echoes_is_no_adapter",  # `cat`
        "tests/unit/client/test_breakpoints.py::test_breakpoints_are_sent_by_file_in_the_specified_order",
        "tests/unit/client/test_breakpoints.py::test_last_breakpoint_of_a_file_is_removed_with_an_empty_list",
        "tests/unit/client/test_breakpoints.py::test_request_made_by_hand_is_the_truth_from_then_on",
        "tests/unit/client/test_breakpoints.py::test_equal_breakpoints_under_two_numbers_are_sent_once_and_answered_both",
        "tests/unit/client/test_breakpoints.py::test_disabled_breakpoint_is_kept_but_not_sent",
        "tests/unit/debuggee/bytecode/test_texts.py::test_a_file_that_was_changed_is_read_again",
        "tests/unit/python/test_command.py::test_command_runs_the_engine_with_the_program_and_its_arguments",
        "tests/unit/python/test_command.py::test_interpreter_*",
        "tests/e2e/python/test_attach.py::test_configurations_for_debugpy_work_unchanged*snippet2*",
        "tests/e2e/python/test_attach.py::test_paths_of_the_program_are_those_of_the_client",
        "tests/e2e/python/test_launch.py::test_zip_file_with_a_main_runs",
        "tests/unit/agent/test_breakpoint_text.py::test_lines_columns_functions_and_conditions_are_read",
        "tests/unit/agent/test_command_words.py::test_files_are_named_from_the_folder_in_which_the_line_is_typed",
        "tests/unit/agent/test_handler.py::test_what_is_wrong_in_a_call_is_said*",
        "tests/unit/agent/test_lock_waits.py::*",
        "tests/unit/agent/test_source_files.py::test_several_files_that_could_be_meant_are_named",
        "tests/unit/agent/test_source_files.py::test_source_is_found_in_the_names_that_an_executable_holds",
        "tests/unit/sessions/test_own_code.py::*path4*",
        "tests/unit/sessions/test_own_code.py::test_project_within_a_folder_of_the_system_is_own_code",
        "tests/unit/sessions/test_registry.py::test_project_without_a_session_names_those_of_the_folders_around_and_below",
        "tests/e2e/agent/test_run.py::test_module_and_interpreter_are_run",
        "tests/e2e/engine/test_text_breakpoints.py::test_breakpoints_in_archives_and_frozen_modules_*",  # posixpath
        "tests/e2e/engine/test_completions.py::test_capitals_do_not_matter_*",  # the folder XML is the folder xml
        "tests/e2e/engine/test_console.py::test_thread_stays_where_it_stood_*",  # `\r\n`, as in the next two
        "tests/e2e/engine/test_redirect_output.py::test_stream_is_as_before_*",
        "tests/e2e/engine/test_sources.py::test_only_sources_that_were_told_of_are_served*",
        "tests/e2e/engine/test_sources.py::test_frozen_modules_*",  # posixpath
        "tests/e2e/engine/test_sources.py::test_loaded_sources_carry_checksums_*",
        "tests/e2e/engine/test_exceptions.py::test_user_unhandled_shows_the_line_*",  # pipes hold 4 kB
    ),
    "fork, exec and signals": (
        "tests/e2e/python/test_children.py::*fork*",
        "tests/e2e/engine/test_console.py::test_program_can_be_ended_from_within_an_evaluation*",  # its exit code
        "tests/e2e/engine/test_redirect_output.py::test_signal_handler_*",
        "tests/e2e/engine/test_hostile_values.py::test_interruption_that_comes_late_*",
        "tests/e2e/python/test_children.py::*-exec]",
        "tests/e2e/python/test_children.py::*posix_spawn*",
        "tests/e2e/python/test_children.py::*spawn of os*",
        "tests/e2e/python/test_children.py::*-shell]",
        "tests/e2e/python/test_children.py::*-environment of its own]",  # Python needs SYSTEMROOT there
        "tests/e2e/python/test_attach.py::*fork*",
        "tests/e2e/python/test_attach.py::*that_a_signal_has_stopped*",
        "tests/e2e/python/test_attach.py::test_adapter_that_is_killed_lets_the_program_run_on",  # it names SIGKILL
        "tests/e2e/python/test_attach.py::test_cancelled_launch_leaves_nothing_behind",
        "tests/e2e/python/test_attach.py::test_disconnect_can_end_the_program",
        "tests/e2e/python/test_attach.py::test_end_of_the_program_ends_the_session*",
        "tests/e2e/python/test_attach.py::test_program_is_attached_to_several_times_*",
        "tests/e2e/python/test_attach.py::test_program_that_closes_all_descriptors_*",
        "tests/e2e/python/test_attach.py::test_program_whose_folder_was_removed_is_attached_to",
        "tests/e2e/python/test_attach.py::test_terminate_interrupts_the_program*",
        "tests/e2e/python/test_configurations.py::test_program_without_debugging_has_no_monitoring*",
        "tests/e2e/python/test_configurations.py::test_key_of_a_framework_*",  # without Flask and Django there
    ),
    "interrupting a command by Ctrl+C": (
        "tests/e2e/hub/test_client.py::test_hub_is_nobodys_child_and_holds_nothing_of_its_starter",
        "tests/e2e/hub/test_client.py::test_stop_kills_a_hub_that_answers_nothing",  # tests/windows has one
        "tests/e2e/hub/test_hub_lifecycle.py::test_interrupted_caller_*",
        "tests/e2e/hub/test_hub_lifecycle.py::test_hub_told_to_end_by_a_signal_*",
        "tests/e2e/hub/test_hub_lifecycle.py::test_call_made_while_a_hub_is_ending_*",
        "tests/e2e/hub/test_killed_processes.py::test_killed_hub_takes_along_what_has_left_the_session_of_its_program",
        "tests/unit/sessions/test_program_end.py::*ending3*",
    ),
    "attach by unix socket": (
        "tests/e2e/hub/test_hub_lifecycle.py::test_line_that_is_no_message_is_answered_and_the_next_one_is_read",
    ),
    "arguments of a program in one text are split as a shell splits them": (
        "tests/e2e/python/test_configurations.py::test_arguments_that_cannot_be_split_are_refused",
        "tests/e2e/python/test_configurations.py::test_configuration_of_an_editor_works_unchanged*",
    ),
    "waking a program that waits in native code, for an evaluation": (
        "tests/e2e/engine/test_console.py::test_cancel_interrupts_an_evaluation*Event*",
        "tests/e2e/engine/test_values.py::test_properties_are_read_only_when_they_are_opened*",
    ),
    "terminals of our own": (
        "tests/unit/client/test_terminal.py::*",
        "tests/unit/client/test_reverse.py::*terminal*",
        "tests/unit/client/test_reverse.py::test_adapter_is_told_the_process_that_it_asked_for",
    ),
    "log messages need no marks in the program's output": (
        "tests/unit/debuggee/connection/test_output_marks.py::*",
        "tests/e2e/agent/test_inspection.py::test_what_an_evaluation_prints_comes_in_its_answer_and_not_again",
        "tests/unit/python/test_marked_output.py::*",
    ),
    "time travel and recordings": (
        "tests/e2e/python/test_data_breakpoints.py::*time?travel*",
        "tests/e2e/agent/test_python.py::test_why_and_timeline_tell_of_a_recorded_history",
        "tests/e2e/agent/test_python.py::test_a_program_without_a_recorded_history_says_how_to_have_one",
        "tests/e2e/agent/test_python.py::test_time_travel_is_a_parameter_of_launch",
    ),
    "attaching to a process by its number, and stacks of a process that runs": (
        "tests/unit/python/test_native_debugger.py::*",
    ),
    "waiting for a descriptor that is not a socket": (
        "tests/unit/transport/test_intake.py::*",
        "tests/unit/transport/test_descriptors.py::test_closing_wakes_who_waits_*",
    ),
    "sockets that take no more than a few kilobytes from a writer": (
        "tests/unit/transport/test_writer.py::test_all_frames_arrive_in_order_though_the_peer_is_slow",
        "tests/unit/transport/test_writer.py::test_message_waits_for_the_task_while_that_is_writing",
        "tests/unit/transport/test_writer.py::test_stream_that_breaks_is_told_by_the_task",
        "tests/unit/transport/test_writer.py::test_peer_that_takes_nothing_is_given_up",
    ),
}
"""Patterns of tests by the feature."""


def is_not_for_windows(test: str) -> bool:
    """Return whether a test, by its node id, needs such a feature."""
    return any(fnmatchcase(test, pattern) for patterns in FEATURES.values() for pattern in patterns)
