"""What surrounds every page: the sidebar's tree, badges, the dashboard, the account's links."""
