"""Statistics of differences over replicates: tests, their correction, looks at growing samples, and sample sizes."""
