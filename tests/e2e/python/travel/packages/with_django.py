"""Models, forms and views of Django, without a project."""

import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["django.contrib.contenttypes"],
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    SECRET_KEY="not a secret",
    USE_TZ=False,
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "loaders": [
                    (
                        "django.template.loaders.locmem.Loader",
                        {"list": "{% for name in names %}{{ name|upper }},{% endfor %}"},
                    )
                ]
            },
        }
    ],
)
django.setup()

from django import forms  # noqa: E402
from django.contrib.contenttypes.models import ContentType  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.shortcuts import render  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import path  # noqa: E402


class NameForm(forms.Form):
    name = forms.CharField(min_length=3)
    count = forms.IntegerField(max_value=5)


def names(request):
    return render(request, "list", {"names": request.GET.getlist("name")})


urlpatterns = [path("names/", names)]
call_command("migrate", verbosity=0)
for number in range(5):
    ContentType.objects.create(app_label=f"app{number % 2}", model=f"model{number}")
s_counts = {label: ContentType.objects.filter(app_label=label).count() for label in ("app0", "app1")}
s_forms = [NameForm({"name": name, "count": count}).is_valid() for name, count in (("ann", 3), ("x", 3), ("bob", 9))]
answer = Client().get("/names/?name=ann&name=bo")
s_page = answer.content.decode()
s_missing = Client().get("/none/").status_code
print(s_counts, s_forms, s_page, s_missing)
