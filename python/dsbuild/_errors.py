"""What goes wrong, as the program says it (docs/reference/messages.md)."""


class DsbuildError(RuntimeError):
    """An op that could not be loaded, or a question that could not be answered.

    code   the message's code, a row of docs/reference/messages.md: "no_fit", "jit_off", "edge_failed" …
    where  the file with its line, or the variable, option or op that it is about
    what   what is wrong
    fix    what to do about it
    """

    def __init__(self, code, where, what, fix=""):
        super().__init__(code, where, what, fix)
        self.code = code
        self.where = where
        self.what = what
        self.fix = fix

    def __str__(self):
        """What is wrong comes first: `where` may be a variable or an option that nobody has set."""
        named = f" ({self.where})" if self.where else ""
        return self.what + named + ("\n" + self.fix if self.fix else "").replace("\n", "\n  ")
