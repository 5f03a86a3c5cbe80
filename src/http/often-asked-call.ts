import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, Request } from 'express';
import { EVERYTHING } from '../auth/sight.js';
import type { AnyViewing } from '../auth/viewing-gate.js';
import { askedOf } from './mount.js';
import type { AnyCall, Asked } from './route.js';
import type { Shown } from './stream-access.js';

/** A request that was understood, and whose sender may watch. */
export type ReadRequest = {
  readonly params: unknown;
  readonly query: unknown;
  readonly viewing: AnyViewing;
  readonly shown: Shown;
};

/** A handler's call, whose rarer parts are looked for when they are asked for. */
export class OftenAskedCall implements AnyCall {
  readonly body = undefined;
  readonly sight = EVERYTHING;
  readonly principal = null;
  readonly session = null;
  readonly place = null;
  readonly params: unknown;
  readonly query: unknown;
  readonly viewing: AnyViewing;
  readonly clientAddress: string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #app: Express;

  constructor(read: ReadRequest, request: IncomingMessage, response: ServerResponse, app: Express) {
    this.params = read.params;
    this.query = read.query;
    this.viewing = read.viewing;
    this.clientAddress = read.shown.address ?? '';
    this.#request = request;
    this.#response = response;
    this.#app = app;
  }

  get ifMatch(): string {
    return this.#request.headers['if-match'] ?? '';
  }

  get userAgent(): string {
    return this.#request.headers['user-agent'] ?? '';
  }

  get asked(): Asked {
    return askedOf(asExpressSees(this.#request, this.#app));
  }

  get isSecure(): boolean {
    return asExpressSees(this.#request, this.#app).secure;
  }

  onGone(listener: () => void): void {
    if (this.#response.destroyed) listener();
    else this.#response.once('close', listener);
  }

  note(): void {}
}

/** Express knows what proxies tell. */
export const asExpressSees = ({ method, url, headers, socket }: IncomingMessage, app: Express): Request =>
  Object.assign(Object.create(app.request) as Request, { method, url, originalUrl: url, headers, socket });
