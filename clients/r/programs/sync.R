# Follows the releases with a copy, and says after each whether it is the published file, for clients/compare/sync.ts.
here <- dirname(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
pkgload::load_all(here, quiet = TRUE)

client <- ob_client()
dir <- tempfile("copy-")
for (release in seq_len(as.integer(Sys.getenv("SYNC_RELEASES")))) {
  copy <- ob_sync(client, dir, to = release, progress = FALSE)
  files <- ob_release(client, release)$files
  published <- files$sha256[endsWith(files$name, ".ndjson")]
  cat(jsonlite::toJSON(list(
    release = release, right = identical(to_hex(sha256_file(copy$path)), published),
    changes = if (copy$downloaded) 0 else copy$added + copy$corrected + copy$withdrawn
  ), auto_unbox = TRUE), "\n", sep = "")
}
unlink(dir, recursive = TRUE)
