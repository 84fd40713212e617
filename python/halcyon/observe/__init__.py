"""What an application's I/O looked like: data sets of call records, their sources, and what they say."""
