"""The types of records and parameters. `npm run generate` in the repository writes the other files of this folder."""
