import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as it came in. */
export type Received = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type TestReceiver = {
  readonly port: number;
  readonly url: string;
  readonly received: Received[];
  /** What it does with the next request; 204 unless the test says otherwise. */
  answer: (response: ServerResponse, request: IncomingMessage) => void;
  close(): Promise<void>;
};

/** Somebody else's program that takes messages. */
export const startReceiver = async (port = 0): Promise<TestReceiver> => {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      received.push({ path: request.url ?? '', headers, body });
      receiver.answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = (server.address() as AddressInfo).port;
  const receiver: TestReceiver = {
    ...{ port: bound, url: `http://127.0.0.1:${bound}/hook`, received },
    answer: (response) => response.writeHead(204).end(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return receiver;
};
