import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** What becomes of a request: it goes on, is refused by that, or goes on and its answer is lost. */
type Fate = 'pass' | 'lose' | { readonly status: number; readonly code: string };

/** Stands between a client and its store, and says what becomes of each request. */
export class BetweenStore {
  readonly port: number;
  /** Method and target of all requests, in their order. */
  readonly asked: string[] = [];
  fate: (method: string, target: string) => Fate | Promise<Fate> = () => 'pass';

  private constructor(port: number) {
    this.port = port;
  }

  static async start(t: TestContext, storePort: number): Promise<BetweenStore> {
    const server = createServer((request, response) => {
      const { method = '', url: path = '', headers } = request;
      between.asked.push(`${method} ${path}`);
      void (async () => {
        const fate = await between.fate(method, path);
        if (typeof fate === 'object') {
          request.resume();
          await once(request, 'end');
          const text = method === 'HEAD' ? '' : `<Error><Code>${fate.code}</Code></Error>`;
          response.writeHead(fate.status).end(text);
          return;
        }
        const onward = httpRequest({ host: '127.0.0.1', port: storePort, method, path, headers });
        request.pipe(onward);
        onward.on('error', () => response.destroy());
        const [answer] = (await once(onward, 'response')) as [IncomingMessage];
        if (fate === 'lose') {
          answer.resume();
          await once(answer, 'end');
          response.destroy();
          return;
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      })().catch(() => response.destroy());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const between = new BetweenStore((server.address() as AddressInfo).port);
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    return between;
  }
}
