/**
 * How long the oldest byte that a socket hasn't taken has been waiting, as closely as one mark tells: between once and
 * twice as long where the socket is never empty.
 */
export class Backlog {
  #writtenBytes = 0;
  #markBytes = 0;
  #markMs: number | null = null;

  /** So much was written at `nowMs`, after which so much waits. */
  wrote(lengthBytes: number, pendingBytes: number, nowMs: number): void {
    this.#writtenBytes += lengthBytes;
    this.#look(pendingBytes, nowMs);
  }

  lagMs(pendingBytes: number, nowMs: number): number {
    this.#look(pendingBytes, nowMs);
    return this.#markMs === null ? 0 : nowMs - this.#markMs;
  }

  #look(pendingBytes: number, nowMs: number): void {
    const takenBytes = this.#writtenBytes - pendingBytes;
    if (this.#markMs !== null && takenBytes < this.#markBytes) return;
    this.#markMs = pendingBytes > 0 ? nowMs : null;
    this.#markBytes = this.#writtenBytes;
  }
}
