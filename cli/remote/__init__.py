"""Commands over the API of a service on another machine: which, how, and what may go wrong."""
