# Follows the releases with a copy, and prints its SHA-256 and number of records after each, for clients/compare/sync.ts.
here <- dirname(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
pkgload::load_all(here, quiet = TRUE)

client <- ob_client()
dir <- tempfile("copy-")
for (release in seq_len(as.integer(Sys.getenv("SYNC_RELEASES")))) {
  copy <- ob_sync(client, dir, to = release, progress = FALSE)
  cat(jsonlite::toJSON(list(
    release = release, sha256 = to_hex(sha256_file(copy$path)), records = nrow(ob_read_copy(dir)),
    changes = if (copy$downloaded) 0 else copy$added + copy$corrected + copy$withdrawn
  ), auto_unbox = TRUE), "\n", sep = "")
}
unlink(dir, recursive = TRUE)
