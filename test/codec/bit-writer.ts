/** Writes bits as an encoder would, for parameter sets that no encoder at hand makes. */
export class BitWriter {
  readonly #bits: number[] = [];

  u(count: number, value: number): this {
    for (let bit = count - 1; bit >= 0; bit -= 1) this.#bits.push(Math.floor(value / 2 ** bit) % 2);
    return this;
  }

  ue(value: number): this {
    const digits = (value + 1).toString(2).length;
    return this.u(digits - 1, 0).u(digits, value + 1);
  }

  se(value: number): this {
    return this.ue(value > 0 ? 2 * value - 1 : -2 * value);
  }

  /** The bits so far, padded with zeros, as they are. */
  plain(): Buffer {
    const bytes: number[] = [];
    for (let at = 0; at < this.#bits.length; at += 8) {
      let byte = 0;
      for (let bit = 0; bit < 8; bit += 1) byte = byte * 2 + (this.#bits[at + bit] ?? 0);
      bytes.push(byte);
    }
    return Buffer.from(bytes);
  }

  /** A NAL unit: `header`, the bits with stop bit, emulation prevention put in. */
  nal(header: readonly number[]): Buffer {
    this.u(1, 1);
    const out = [...header];
    let zeros = 0;
    for (const byte of this.plain()) {
      if (zeros >= 2 && byte <= 3) {
        out.push(3);
        zeros = 0;
      }
      out.push(byte);
      zeros = byte === 0 ? zeros + 1 : 0;
    }
    return Buffer.from(out);
  }
}
