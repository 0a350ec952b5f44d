"""What changed between two releases, and why."""

from collections import Counter

from outbreaks import Client

ob = Client()
changes = list(ob.changes(2, 3, changed_fields=True))
for (change, reason), number in sorted(Counter((each["change"], each["reason"]) for each in changes).items()):
    print(f"{change:10} {reason:20} {number:5}")

corrected = [each for each in changes if each["change"] == "corrected" and each["after"]["cases"] is not None]
largest = max(corrected, key=lambda each: abs(each["after"]["cases"] - (each["before"]["cases"] or 0)))
after = largest["after"]
print(f"\nthe largest correction: {after['country']} up to {after['date_high']}, fields {', '.join(largest['fields'])}")
for version in ob.history(largest["id"]):
    until = "later" if version["to_release"] is None else f"before {version['to_release']}"
    print(f"  release {version['from_release']} and {until}: {version['record']['cases']} cases")
