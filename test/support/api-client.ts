import { request as httpRequest } from 'node:http';

export type ApiAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed if it is JSON, else null. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
};

export type ApiOptions = {
  readonly token?: string | null;
  /** Sent as JSON, unless it is a string or a buffer already. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

const encode = (body: unknown): string | Uint8Array<ArrayBuffer> | undefined =>
  body === undefined || typeof body === 'string' || body instanceof Uint8Array
    ? (body as string | Uint8Array<ArrayBuffer>)
    : JSON.stringify(body);

/** One request to a service. */
export const callApi = async (
  baseUrl: string,
  method: string,
  path: string,
  { token = null, body, headers = {} }: ApiOptions = {},
): Promise<ApiAnswer> => {
  const sent = encode(body);
  const response = await fetch(new URL(path, baseUrl), {
    method,
    redirect: 'manual',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
};

export type EventReader = {
  /** All that has come so far. */
  readonly text: () => string;
  readonly status: number;
  /** Resolves when the stream is over: true if the service ended it in order, false if it was cut. */
  readonly ended: Promise<boolean>;
  close(): void;
};

/** Opens a stream of server-sent events and collects what it says. */
export const openEvents = (
  baseUrl: string,
  path: string,
  token: string | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(new URL(path, baseUrl), {
      headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
      agent: false,
    });
    request.once('error', reject);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      request.off('error', reject).on('error', () => {});
      resolve({
        text: () => text,
        status: response.statusCode ?? 0,
        ended: new Promise((done) => response.once('close', () => done(response.complete))),
        close: () => request.destroy(),
      });
    });
    request.end();
  });
