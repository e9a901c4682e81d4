"""The entities of the demo, a module each, under the platform's own logical names and lengths."""
