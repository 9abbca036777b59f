"""Launch instances, wait for their runners, take them back."""
