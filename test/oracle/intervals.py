"""Days, weeks, months and years: the name, the first and the last day of the interval of a day."""
import datetime

INTERVALS = ("day", "isoweek", "epiweek", "month", "year")


def interval_of(name, number):
    day = datetime.date.fromordinal(number)
    if name == "day":
        return day.isoformat(), number, number
    if name == "isoweek":
        year, week, weekday = day.isocalendar()
        return f"{year:04}-W{week:02}", number - weekday + 1, number - weekday + 7
    if name == "epiweek":
        # MMWR weeks begin on Sunday. A week belongs to the year of its Wednesday.
        first = number - (day.weekday() + 1) % 7
        year = datetime.date.fromordinal(first + 3).year
        start = datetime.date(year, 1, 4).toordinal()
        start -= (datetime.date(year, 1, 4).weekday() + 1) % 7
        return f"{year:04}-EW{(first - start) // 7 + 1:02}", first, first + 6
    if name == "month":
        first = day.replace(day=1)
        following = (first + datetime.timedelta(days=31)).replace(day=1)
        return f"{day:%Y-%m}", first.toordinal(), following.toordinal() - 1
    first, last = datetime.date(day.year, 1, 1), datetime.date(day.year, 12, 31)
    return f"{day.year:04}", first.toordinal(), last.toordinal()
