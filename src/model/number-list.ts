/** A growing list of integers from 0 to 2³² − 1, in four bytes each. */
export class NumberList {
  private numbers: Uint32Array<ArrayBuffer>;
  private count = 0;

  constructor(numbers: Uint32Array<ArrayBuffer> = new Uint32Array(64)) {
    this.numbers = numbers;
  }

  get length(): number {
    return this.count;
  }

  push(number: number): void {
    if (this.count === this.numbers.length) {
      const longer = new Uint32Array(this.count * 2);
      longer.set(this.numbers);
      this.numbers = longer;
    }
    this.numbers[this.count] = number;
    this.count += 1;
  }

  /** `undefined`: out of range. */
  at(index: number): number | undefined {
    return index < this.count ? this.numbers[index] : undefined;
  }

  copy(): NumberList {
    const copy = new NumberList(this.numbers.slice());
    copy.count = this.count;
    return copy;
  }
}
