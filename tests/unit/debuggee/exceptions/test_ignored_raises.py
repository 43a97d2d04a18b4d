"""Raises that need no second look."""

from types import CodeType

from dapkit.python.debuggee.exceptions.ignored_raises import IgnoredRaises

ONE = compile("1", "one", "exec")
OTHER = compile("1", "one", "exec")


class Looks:
    """Notes what was looked at."""

    def __init__(self) -> None:
        self.seen: list[tuple[CodeType, int, type]] = []

    def __call__(self, code: CodeType, offset: int, exception: BaseException) -> None:
        self.seen.append((code, offset, type(exception)))


def test_only_the_same_type_at_the_same_place_passes() -> None:
    passes, looks = IgnoredRaises(), Looks()
    on_raise = passes.before(looks)
    passes.add(ONE, 4, ValueError, era=passes.era)
    for code, offset, error in ((ONE, 4, ValueError()), (ONE, 6, ValueError()), (OTHER, 4, ValueError())):
        on_raise(code, offset, error)
        on_raise(code, offset, error)
    on_raise(ONE, 4, UnicodeError())
    assert looks.seen == [(ONE, 6, ValueError)] * 2 + [(OTHER, 4, ValueError)] * 2 + [(ONE, 4, UnicodeError)]


def test_places_with_one_offset_pass_side_by_side() -> None:
    passes, looks = IgnoredRaises(), Looks()
    on_raise = passes.before(looks)
    for code in (ONE, OTHER):
        passes.add(code, 4, ValueError, era=passes.era)
    for code in (ONE, OTHER) * 3:
        on_raise(code, 4, ValueError())
    assert looks.seen == []


def test_what_was_found_before_a_change_does_not_count_after_it() -> None:
    passes, looks = IgnoredRaises(), Looks()
    on_raise = passes.before(looks)
    passes.add(ONE, 4, ValueError, era=passes.era)
    on_raise(ONE, 4, ValueError())
    era = passes.era
    passes.clear()
    passes.add(ONE, 4, ValueError, era=era)
    on_raise(ONE, 4, ValueError())
    assert looks.seen == [(ONE, 4, ValueError)]
