import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../base/errors.js';

export type HandshakeErrorCode = 'bad_request';

/** Close codes that whoever watches can rely on (RFC 6455 §7.4; 4000 and up are ours). */
export const closeCode = {
  serviceStops: 1001,
  policyViolated: 1008,
  internalError: 1011,
  tryAgainLater: 1013,
  accessWithdrawn: 4403,
  cameraDeleted: 4404,
} as const;

/** Nobody has more to say to us at a time; a longer message ends the connection (1009). */
const MAX_RECEIVED_BYTES = 64 << 10;
/**
 * For the other end to answer a close frame. One that stood still answers old pings first when it wakes: a socket that
 * is gone by then would reset the connection, and what was said last is lost.
 */
const CLOSE_TIMEOUT_MS = 60_000;

/** Makes WebSockets of requests that were let in. */
export class Handshakes {
  readonly #server: WebSocketServer;

  /** `isTextRead`: whether anybody reads the text that comes, and wants it to be text. */
  constructor({ isTextRead }: { readonly isTextRead: boolean }) {
    const options = {
      noServer: true,
      clientTracking: false,
      // Video doesn't get smaller, and a shared message is sent to all as it is.
      perMessageDeflate: false,
      skipUTF8Validation: !isTextRead,
      maxPayload: MAX_RECEIVED_BYTES,
      closeTimeout: CLOSE_TIMEOUT_MS,
    };
    this.#server = new WebSocketServer(options);
  }

  /** The handshake is done before this returns; refused, it throws `bad_request` before anything is written. */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onOpen: (webSocket: WebSocket) => void,
  ): void {
    let fault: Error | null = null;
    const onFault = (error: Error): void => {
      fault = error;
    };
    this.#server.once('wsClientError', onFault);
    this.#server.handleUpgrade(request, socket, head, onOpen);
    this.#server.off('wsClientError', onFault);
    if (fault !== null) throw badRequest(fault);
  }
}

const badRequest = (cause: Error): AppError<HandshakeErrorCode> =>
  new AppError('bad_request', `the WebSocket handshake failed: ${cause.message}`, { cause });
