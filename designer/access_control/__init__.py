"""Who may call what: the matrix, one caller's rights, two roles side by side, and the studio's own groups."""
