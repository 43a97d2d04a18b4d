"""People of Faker, from a seed, in three languages."""

from faker import Faker

s_people = []
for language in ("en_US", "de_DE", "fr_FR"):
    fake = Faker(language)
    fake.seed_instance(4)
    for _ in range(5):
        s_people.append((fake.name(), fake.city(), fake.date_of_birth(minimum_age=20, maximum_age=60).year > 1900))
s_names = [name for name, _, _ in s_people]
s_letters = sum(map(len, s_names))
print(len(s_people), s_names[0], s_letters)
