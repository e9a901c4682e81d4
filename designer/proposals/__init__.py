"""Changes that wait: what is protected goes live by a proposal, in one step, and back in one."""
