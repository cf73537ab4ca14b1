"""What the project was tested with: a lock file, a bill of materials and the licences."""
