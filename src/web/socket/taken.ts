const TAKEN = 0x21;
const TAKEN_BYTES = 12;

export type Taken = { readonly messages: number; readonly bytes: number };

/** The page's account of what it took since the socket opened, modulo 2^32. */
export const takenMessage = ({ messages, bytes }: Taken): ArrayBuffer => {
  const message = new ArrayBuffer(TAKEN_BYTES);
  const view = new DataView(message);
  view.setUint8(0, TAKEN);
  view.setUint32(4, messages);
  view.setUint32(8, bytes);
  return message;
};

/** What several decoders have taken of one socket; what they say of an earlier one counts for nothing. */
export class TakenCount {
  #connection = 0;
  #parts = new Map<number, Taken>();

  begin(connection: number): void {
    this.#connection = connection;
    this.#parts = new Map();
  }

  /** `part` has taken so much of that connection by now, in all. */
  note(part: number, connection: number, taken: Taken): void {
    if (connection === this.#connection) this.#parts.set(part, taken);
  }

  get total(): Taken {
    const parts = [...this.#parts.values()];
    const sum = (of: (part: Taken) => number): number => parts.reduce((total, part) => total + of(part), 0);
    return {
      messages: sum(({ messages }) => messages) % 2 ** 32,
      bytes: sum(({ bytes }) => bytes) % 2 ** 32,
    };
  }
}
