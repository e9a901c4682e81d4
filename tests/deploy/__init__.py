"""deploy/, really built and run: the image, Compose's file, the manifests, the proxies."""
