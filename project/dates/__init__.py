"""How the studio's pages write dates and times, by language: `FORMAT_MODULE_PATH` names this package.

Short, with digits alone, so that they can be compared in a table. Times are in UTC. A language without a
module here has Django's formats or, where these lack one, that of the settings.
"""
