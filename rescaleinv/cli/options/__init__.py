"""What each command takes and says about itself: one module per command, standard library only.

A module has ``add_parser(commands)``, which adds the command's parser and sets its default ``work`` to the function that
does the work, "module:function". It is imported when the command runs, is given the options, and returns the exit code
(None is 0).
"""
