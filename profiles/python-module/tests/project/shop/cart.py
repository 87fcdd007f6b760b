def total(items):
    raise NotImplementedError
