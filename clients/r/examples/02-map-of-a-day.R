# A map of one day: measles in the United States up to 2025-06-01, by state.
#
# `us-states.csv` has the positions of the states. The service adds up the counties of each state, joined by code.
# A state without a report is a cross, not a zero.
library(outbreakdata)
library(ggplot2)

states <- read.csv("us-states.csv")
sums <- ob_sums(ob_as_of(ob_client(), 6),
  event = "Measles_United_States_2025", location_granularity = "admin2", group_by = "al1_code", date_to = "2025-06-01"
)
cases <- merge(states, sums[c("al1_code", "new_cases")], all.x = TRUE)
cases <- cases[!cases$al1_code %in% c("US-AK", "US-HI"), ]
known <- cases[!is.na(cases$new_cases), ]
largest <- head(known[order(-known$new_cases), ], 5)

plot <- ggplot(known, aes(longitude, latitude)) +
  geom_point(data = cases[is.na(cases$new_cases), ], shape = 4, colour = "grey40") +
  geom_point(aes(size = new_cases), colour = "#2a6f97", alpha = 0.7) +
  geom_text(aes(label = paste(substring(al1_code, 4), new_cases)), data = largest, nudge_x = 2, nudge_y = 1.2) +
  scale_size_area(max_size = 20, guide = "none") +
  coord_quickmap() +
  labs(title = "Measles, cases up to 2025-06-01 (release 6)", caption = "Cross: no report") +
  theme_void()
ggsave("02-map-of-a-day.png", plot, width = 7, height = 4, dpi = 110, bg = "white")
print(largest[c("al1_code", "new_cases")], row.names = FALSE)
cat(nrow(known), "of", nrow(cases), "states have a report\n")
