# A local copy that follows the releases.
#
# The first `ob_sync()` downloads a release. Later ones fetch only the changes, and check the digest of the whole.
library(outbreakdata)

client <- ob_client()
for (release in 4:6) {
  copy <- ob_sync(client, "copy", release)
  records <- ob_read_copy("copy")
  how <- if (copy$downloaded) {
    "downloaded"
  } else {
    sprintf("%d added, %d corrected, %d withdrawn", copy$added, copy$corrected, copy$withdrawn)
  }
  cat(sprintf("release %d: %d records, %s\n", release, nrow(records), how))
}
