# Several sources about one outbreak, side by side and never added up.
#
# Grouping by source gives each its own row. Six papers count between 376 and 1,463 confirmed cases.
library(outbreakdata)
library(ggplot2)

client <- ob_as_of(ob_client(), 6)
sums <- ob_sums(client, event = "Lassa_Nigeria_2018", case_status = "confirmed", group_by = "source_name")
sums <- sums[order(sums$cumulative_cases), ]
print(as.data.frame(sums[c("source_name", "last_day", "cumulative_cases")]), row.names = FALSE)

plot <- ggplot(sums, aes(cumulative_cases, reorder(source_name, -cumulative_cases))) +
  geom_col(fill = "#2a6f97") +
  geom_text(aes(label = paste(cumulative_cases, "up to", last_day)), hjust = -0.05) +
  xlim(0, 2200) +
  labs(title = "Lassa in Nigeria, 2018: confirmed cases by source", x = NULL, y = NULL) +
  theme_minimal()
ggsave("06-two-sources.png", plot, width = 8, height = 3, dpi = 110, bg = "white")
