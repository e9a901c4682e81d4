"""One record at a time, or several in a change set; and values as the Web API writes them."""
