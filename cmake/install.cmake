# set by packaging
