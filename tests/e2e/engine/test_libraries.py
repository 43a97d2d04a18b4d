"""Values of libraries as their users want to see them: real libraries, in each version of Python."""

from collections.abc import Callable

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message
from program_libraries import libraries_for

pytestmark = [pytest.mark.row("scopes, variables"), pytest.mark.each_python]


@pytest.fixture
def at_stop(start: Start, request: pytest.FixtureRequest) -> Start:
    """Return a function that starts a program with libraries, and lets it come to its line `stop = 1`."""

    def at_stop(text: str) -> EngineClient:
        peer = start(text, env=libraries_for(request.node.callspec.params["python"]))
        peer.configure(lines=[next(n for n, line in enumerate(text.strip().splitlines(), 1) if "stop = 1" in line)])
        peer.stopped("breakpoint")
        return peer

    return at_stop


LATE = ("timed out", "took too long")
"""What stands in place of a value on a machine that was too busy for it."""


def in_time(ask: Callable[[], dict[str, Message]]) -> dict[str, Message]:
    """Ask until the answer has all values: a library does much when it is first used, and the deadline is short."""
    for _ in range(100):
        rows = ask()
        if not any(late in row["value"] for row in rows.values() for late in LATE):
            break
    return rows


def local_variables(peer: EngineClient) -> dict[str, Message]:
    return in_time(peer.locals)


def children(peer: EngineClient, row: Message, **page: object) -> dict[str, Message]:
    return in_time(lambda: {child["name"]: child for child in peer.rows(row["variablesReference"], **page)})


def texts(rows: dict[str, Message]) -> dict[str, str]:
    return {name: row["value"] for name, row in rows.items() if name != "plain view"}


def lazy_ones(rows: dict[str, Message]) -> list[str]:
    return [name for name, row in rows.items() if row.get("presentationHint", {}).get("lazy")]


def check_paths(peer: EngineClient, rows: dict[str, Message]) -> None:
    """Check that the expression for each child gives that child."""
    frame = peer.stack()[0]["id"]
    for row in rows.values():
        if row.get("evaluateName") and not row.get("presentationHint", {}).get("lazy"):
            again = peer.ask("evaluate", expression=row["evaluateName"], frameId=frame)
            assert (again["result"], again["type"]) == (row["value"], row["type"]), row["evaluateName"]


ARRAYS = """
    import numpy
    million = numpy.arange(1_000_000)
    matrix = numpy.arange(6.0).reshape(2, 3)
    gaps = numpy.array([[2.5, float("nan")], [float("nan"), -1.0]])
    names, empty, nothing = numpy.array(["b", "a"]), numpy.array([]), numpy.array(5)
    pairs = numpy.zeros(2, dtype=[("a", "i4"), ("b", "f8")])
    huge = numpy.broadcast_to(numpy.float32(1), (10**6, 10**4))
    masked = numpy.ma.array([1, 2], mask=[True, False])
    class Odd(numpy.ndarray):
        def __array_finalize__(self, made_from):
            if started: raise RuntimeError("not now")
    started = False
    odd = numpy.arange(4).reshape(2, 2).view(Odd)
    started = True
    scalar = numpy.float64(1.5)
    stop = 1
"""


@pytest.mark.works_with("numpy", "arrays page by page, with shape, type, minimum and maximum; elements can be set")
def test_arrays_show_shape_type_extremes_and_pages(at_stop: Start) -> None:
    peer = at_stop(ARRAYS)
    rows = local_variables(peer)
    shown = {name: row["value"] for name, row in rows.items()}
    assert shown["million"] == "ndarray (1000000,) int64 [0, 1, 2 … 999999]"
    assert shown["matrix"] == "ndarray (2, 3) float64 [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"
    assert (shown["names"], shown["empty"]) == ("ndarray (2,) <U1 ['b', 'a']", "ndarray (0,) float64 []")
    assert (shown["nothing"], shown["scalar"]) == ("ndarray () int64 5", "np.float64(1.5)")
    assert shown["pairs"].endswith("[(0, 0.0), (0, 0.0)]")
    assert shown["masked"].startswith("masked_array(")
    assert peer.value("matrix", context="repl") == "array([[0., 1., 2.],\n       [3., 4., 5.]])"

    million = children(peer, rows["million"], filter="named")
    assert texts(million) == {
        "shape": "(1000000,)",
        "dtype": "dtype('int64')",
        "min": "np.int64(0)",
        "max": "np.int64(999999)",
    }
    check_paths(peer, million)
    plain = children(peer, million["plain view"], filter="named")
    assert plain["T"]["presentationHint"]["lazy"]
    assert plain["nbytes"]["value"] == "8000000"
    page = children(peer, rows["million"], filter="indexed", start=500_000, count=100)
    assert list(page) == [f"[{n}]" for n in range(500_000, 500_100)]
    gaps = children(peer, rows["gaps"], filter="named")
    assert [gaps[name]["value"] for name in ("min", "max", "NaNs")] == ["np.float64(-1.0)", "np.float64(2.5)", "2"]
    assert "evaluateName" not in gaps["max"]
    for name in ("names", "empty"):
        assert "min" not in children(peer, rows[name])
    huge = children(peer, rows["huge"], filter="named")
    assert (
        huge["max"]["value"] == "<max was not computed of 10,000,000,000 items, more than 5,000,000; huge.max() does>"
    )
    assert rows["huge"]["indexedVariables"] == 1_000_000
    odd = children(peer, rows["odd"], filter="indexed")
    assert texts(odd) == {"presenter": "<presenter raised RuntimeError: not now>"}
    assert shown["odd"] == "Odd (2, 2) int64 [[0, 1], [2, 3]]"
    assert texts(children(peer, rows["masked"], filter="indexed")) == {"[0]": "masked", "[1]": "np.int64(2)"}
    assert rows["nothing"].get("indexedVariables") is None

    matrix = children(peer, rows["matrix"], filter="indexed")
    assert matrix["[1]"]["value"] == "ndarray (3,) float64 [3.0, 4.0, 5.0]"
    check_paths(peer, matrix)
    peer.ask("setVariable", variablesReference=rows["matrix"]["variablesReference"], name="[0]", value="9")
    assert peer.value("matrix.tolist()") == "[[9.0, 9.0, 9.0], [3.0, 4.0, 5.0]]"
    memory = peer.ask("readMemory", memoryReference=rows["matrix"]["memoryReference"], count=100)
    assert memory["unreadableBytes"] == 52


TABLES = """
    import numpy, pandas
    frame = pandas.DataFrame({"a": range(1000), "b": list("xy") * 500, "shape": 1.5})
    wide = pandas.DataFrame(numpy.zeros((2, 700)))
    twice = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    series = pandas.Series(range(1_000_000), name="s")
    labelled = pandas.Series([1.5, 2], index=["x", "y"])
    index = frame.index
    stop = 1
"""


@pytest.mark.works_with("pandas", "columns with types, the first rows as a table; frames and series page by page")
def test_tables_show_columns_with_types_and_the_first_rows(at_stop: Start) -> None:
    peer = at_stop(TABLES)
    rows = local_variables(peer)
    shown = {name: row["value"] for name, row in rows.items()}
    assert shown["frame"].startswith("DataFrame (1000, 3) a int64, b ")
    assert rows["frame"]["indexedVariables"] == 1000
    frame = children(peer, rows["frame"], filter="named")
    assert frame["shape"]["value"] == "(1000, 3)"
    head = frame.pop("head")
    assert (head["value"].splitlines()[0].split(), head["evaluateName"]) == (["a", "b", "shape"], "frame.head(10)")
    assert len(head["value"].splitlines()) == 11
    assert frame["a"]["value"] == "Series (1000,) int64 [0, 1, 2 … 999]"
    assert (frame["a"]["evaluateName"], frame["['shape']"]["evaluateName"]) == ("frame['a']", "frame['shape']")
    check_paths(peer, frame)
    row = children(peer, rows["frame"], filter="indexed", start=999, count=1)
    assert row["[999]"]["value"] == "Series (3,) object {a: 999, b: 'y', shape: 1.5}"
    wide = children(peer, rows["wide"], filter="named")
    assert wide["more columns"]["value"] == "<more columns are not shown: 200>"
    twice = children(peer, rows["twice"], filter="named")
    assert twice["a [1]"]["value"] == "Series (1,) int64 [2]"
    check_paths(peer, {name: twice[name] for name in ("index", "a [0]", "a [1]")})
    peer.ask("setVariable", variablesReference=rows["frame"]["variablesReference"], name="['shape']", value="2")
    assert peer.value("frame.iloc[3, 2]") == "np.int64(2)"

    assert shown["labelled"] == "Series (2,) float64 {x: 1.5, y: 2.0}"
    series = children(peer, rows["series"], filter="named")
    assert (series["name"]["value"], series["max"]["value"]) == ("'s'", "np.int64(999999)")
    check_paths(peer, series)
    page = children(peer, rows["series"], filter="indexed", start=500_000, count=1)
    assert (page["[500000]"]["value"], page["[500000]"]["evaluateName"]) == ("np.int64(500000)", "series.iloc[500000]")
    assert shown["index"] == "RangeIndex (1000,) int64 [0, 1, 2 … 999]"
    check_paths(peer, children(peer, rows["index"], filter="named"))


RECORDS = """
    import attrs
    from pydantic import BaseModel, ConfigDict, PrivateAttr, computed_field, model_serializer
    from sqlalchemy import ForeignKey, create_engine, event, text
    from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
    @attrs.define
    class Slotted:
        x: int
        y: list = attrs.field(factory=list)
    class Base(DeclarativeBase): pass
    class User(Base):
        __tablename__ = "user"
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str]
        text: Mapped[str] = mapped_column(deferred=True)
        posts: Mapped[list["Post"]] = relationship(back_populates="user")
        def __repr__(self): return f"<User {self.name} {self.text} {self.posts}>"
    class Post(Base):
        __tablename__ = "post"
        id: Mapped[int] = mapped_column(primary_key=True)
        user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
        user: Mapped[User] = relationship(back_populates="posts")
    class Order(BaseModel):
        model_config = ConfigDict(extra="allow")
        number: int
        lines: list[int] = []
        _hidden: int = PrivateAttr(7)
        @computed_field
        @property
        def double(self) -> int: return self.number * 2
        @model_serializer
        def serialized(self) -> dict: raise RuntimeError("serialized")
    slotted, order = Slotted(1), Order(number=1, note="n")
    queries = []
    engine = create_engine("sqlite://")
    event.listen(engine, "before_cursor_execute", lambda *given: queries.append(given[2]))
    Base.metadata.create_all(engine)
    session = Session(engine)
    session.add_all([User(id=1, name="Ada", text="t", posts=[Post(), Post()]), User(id=2, name="Bob", text="t")])
    session.commit()
    row = session.execute(text('select id, name, 3 as "full name" from user')).first()
    loaded, expired, fresh = session.get(User, 1), session.get(User, 2), User(name="new")
    posts = loaded.posts
    users = [loaded]
    session.expire(expired)
    queries.clear()
    stop = 1
"""


@pytest.mark.works_with("attrs", "fields, also with slots")
@pytest.mark.works_with("pydantic", "fields, extra and private ones; nothing is serialized")
@pytest.mark.works_with("SQLAlchemy", "columns of rows and mapped objects; a look never asks the database")
def test_records_show_their_fields_and_looking_at_them_asks_no_database(at_stop: Start) -> None:
    peer = at_stop(RECORDS)
    rows = local_variables(peer)
    assert rows["slotted"]["value"] == "Slotted(x=1, y=[])"
    assert texts(children(peer, rows["slotted"])) == {"x": "1", "y": "[]"}

    order = children(peer, rows["order"])
    lazy = order.pop("double")
    assert texts(order) == {
        "number": "1",
        "lines": "[]",
        "note": "'n'",
        "_hidden": "7",
        "model_fields_set": order["model_fields_set"]["value"],
    }
    assert lazy["presentationHint"]["lazy"]
    check_paths(peer, order)
    peer.ask("setVariable", variablesReference=rows["order"]["variablesReference"], name="note", value="'m'")
    assert peer.value("order.note") == "'m'"

    assert rows["row"]["value"] == "Row(id=1, name='Ada', full name=3)"
    row = children(peer, rows["row"])
    assert texts(row) == {"id": "1", "name": "'Ada'", "full name": "3"}
    check_paths(peer, row)
    assert rows["loaded"]["value"] == "User(id=1, name='Ada', … 1 not loaded)"
    loaded = children(peer, rows["loaded"])
    assert texts(loaded) == {
        "id": "1",
        "name": "'Ada'",
        "text": "",
        "posts": "[Post(id=1, user_id=1), Post(id=2, user_id=1)]",
    }
    assert loaded["text"]["presentationHint"]["lazy"]
    check_paths(peer, loaded)
    assert rows["users"]["value"] == "[User(id=1, name='Ada', … 1 not loaded)]"
    assert rows["expired"]["value"] == "User(… 3 not loaded)"
    assert lazy_ones(children(peer, rows["expired"])) == ["id", "name", "text", "posts"]
    assert rows["fresh"]["value"] == "User(name='new', … 2 not loaded)"
    assert peer.value("expired", context="hover") == "User(… 3 not loaded)"
    children(peer, children(peer, rows["expired"])["plain view"])
    assert peer.value("queries") == "[]"
    [opened] = peer.rows(loaded["text"]["variablesReference"])
    assert (opened["value"], opened["evaluateName"]) == ("'t'", "loaded.text")
    assert peer.value("len(queries)") == "1"


DJANGO = """
    import django
    from django.conf import settings
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    )
    django.setup()
    from django.db import connection, models
    class Author(models.Model):
        name = models.CharField(max_length=20)
        class Meta: app_label = "shop"
    class Book(models.Model):
        title = models.CharField(max_length=20)
        text = models.TextField()
        author = models.ForeignKey(Author, on_delete=models.CASCADE)
        class Meta: app_label = "shop"
        def __str__(self): return f"{self.text} by {self.author.name}"
        @property
        def shout(self): return self.title.upper()
    with connection.schema_editor() as editor:
        editor.create_model(Author)
        editor.create_model(Book)
    ada = Author.objects.create(name="Ada")
    for title in "abc":
        Book.objects.create(title=title, text="t", author=ada)
    pending, nothing, done = Book.objects.filter(title__gt="a"), Book.objects.none(), Book.objects.order_by("title")
    list(done)
    book = Book.objects.defer("text").get(title="a")
    joined = Book.objects.select_related("author").get(title="b")
    queries = []
    def note(execute, sql, *given):
        queries.append(sql)
        return execute(sql, *given)
    connection.execute_wrappers.append(note)
    stop = 1
"""


@pytest.mark.thorough
def test_query_sets_are_evaluated_by_no_look_and_models_load_nothing(at_stop: Start) -> None:
    peer = at_stop(DJANGO)
    rows = local_variables(peer)
    assert rows["pending"]["value"] == "QuerySet of shop.Book, not evaluated"
    pending = children(peer, rows["pending"])
    assert pending["query"]["value"].startswith("'SELECT ")
    assert pending["query"]["value"].endswith("> a'")
    assert pending["results"]["presentationHint"]["lazy"]
    check_paths(peer, pending)
    assert "nothing" in rows
    assert peer.value("pending", context="hover") == "QuerySet of shop.Book, not evaluated"
    assert rows["done"]["value"] == "QuerySet of shop.Book, 3 rows"
    done = children(peer, rows["done"])
    assert done["[2]"]["value"] == "Book(id=3, title='c', text='t', author_id=1)"
    assert "results" not in done
    check_paths(peer, done)
    assert rows["book"]["value"] == "Book(id=1, title='a', author_id=1, … 1 not loaded)"
    book = children(peer, rows["book"])
    assert lazy_ones(book) == ["text", "author", "shout"]
    check_paths(peer, book)
    joined = children(peer, rows["joined"])
    assert joined["author"]["value"] == "Author(id=1, name='Ada')"
    check_paths(peer, joined)
    children(peer, pending["plain view"])
    assert peer.value("queries") == "[]"
    [results] = peer.rows(pending["results"]["variablesReference"])
    assert results["value"].startswith("[Book(id=2, title='b', ")
    check_paths(peer, {"results": results})
    assert peer.value("(len(queries), pending._result_cache)") == "(2, None)"
