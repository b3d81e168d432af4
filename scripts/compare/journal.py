"""What has been measured so far, one JSON object a line: a run that was interrupted goes on where it was."""

import json


class Journal:
    def __init__(self, file):
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        # The last line of a run that was killed may be a part of one.
        self.entries = [json.loads(line) for line in lines if line.endswith("}")]

    def find(self, **key):
        for entry in reversed(self.entries):
            if all(entry.get(name) == value for name, value in key.items()):
                return entry
        return None

    def add(self, entry):
        self.entries.append(entry)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        return entry

    def of_part(self, part, program):
        """The last entry of each cell."""
        cell = ("problem", "method", "lambda", "eta", "threads", "pairs", "trials")
        own = [entry for entry in self.entries if entry["part"] == part and entry["program"] == program]
        last = {tuple(str(entry.get(name)) for name in cell): entry for entry in own}
        return list(last.values())
