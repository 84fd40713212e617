"""Recording a command's I/O: what is preloaded into it, and the folder in which its traces lie."""
