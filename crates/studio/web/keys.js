// The table of keys, as the server's first message has it: what each key does, what browsers call
// it, what is printed on it, and words for people. The page knows no key of its own.

export class KeyTable {
  // `held` are the names of the keys that do something on this robot.
  constructor(rows, held) {
    const known = new Set(held);
    this.rows = rows.filter((row) => row.codes.length > 0 && (row.does !== "hold" || known.has(row.name)));
    this.byCode = new Map(this.rows.flatMap((row) => row.codes.map((code) => [code, row])));
    this.byName = new Map(this.rows.map((row) => [row.name, row]));
  }

  all(does) {
    return this.rows.filter((row) => row.does === does);
  }

  // What is printed on a key, by its name in the table.
  cap(name) {
    return this.byName.get(name)?.caps[0] ?? "";
  }

  // The key that sends the autopilot to a target: its number from 1, 0 for all.
  sends(target) {
    return this.all("send").find((row) => row.target === target);
  }
}
