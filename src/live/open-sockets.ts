import type { WebSocket } from 'ws';
import type { Clock } from '../base/clock.js';

/** How long the others may take to hear of the service's end. */
const STOP_TIMEOUT_MS = 1_500;

/** WebSockets that haven't closed, also those that were told to. */
export class OpenSockets {
  readonly #clock: Clock;
  readonly #open = new Set<WebSocket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(webSocket: WebSocket): void {
    this.#open.add(webSocket);
    webSocket.on('close', () => this.#open.delete(webSocket));
  }

  /** All were told to close: waits until they have gone, or cuts them off. */
  async gone(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      const cutOff = this.#clock.after(STOP_TIMEOUT_MS, () => {
        for (const webSocket of this.#open) webSocket.terminate();
      });
      for (const webSocket of this.#open) {
        webSocket.once('close', () => {
          if (this.#open.size > 0) return;
          cutOff.cancel();
          resolve();
        });
      }
    });
  }
}
