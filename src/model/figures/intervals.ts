/** The time that is covered by at least one of several intervals. Times are in milliseconds. */
export class Cover {
  /** Start and end of each covered interval, ascending. They do not touch. */
  private readonly edges: number[];

  constructor(edges: number[] = []) {
    this.edges = edges;
  }

  /** Adds an interval. One that ends before it begins is empty. Costs little if it is not far from the latest one. */
  add(from: number, to: number): void {
    if (to <= from) return;
    const { edges } = this;
    let first = edges.length;
    while (first > 0 && (edges[first - 1] ?? 0) >= from) first -= 2;
    let end = first;
    while (end < edges.length && (edges[end] ?? 0) <= to) end += 2;
    if (end === first) edges.splice(first, 0, from, to);
    else
      edges.splice(
        first,
        end - first,
        Math.min(from, edges[first] ?? from),
        Math.max(to, edges[end - 1] ?? to),
      );
  }

  /** The covered time. */
  get span(): number {
    let sum = 0;
    for (let at = 0; at < this.edges.length; at += 2)
      sum += (this.edges[at + 1] ?? 0) - (this.edges[at] ?? 0);
    return sum;
  }

  copy(): Cover {
    return new Cover([...this.edges]);
  }
}
