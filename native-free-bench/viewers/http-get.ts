import { Agent, request } from 'node:http';

export type HttpAnswer = { readonly bytes: Buffer; readonly url: string };

const MOST_REDIRECTS = 3;

/** One connection that is kept, as a player's; it keeps cookies, and follows redirects. */
export class HttpGet {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #cookies = new Map<string, string>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Rejects where the answer is none of 2xx. */
  async get(url: string, redirects = 0): Promise<HttpAnswer> {
    const { status, location, bytes } = await this.#ask(url);
    if (status >= 200 && status < 300) return { bytes, url };
    if (status < 300 || status >= 400 || location === undefined || redirects === MOST_REDIRECTS)
      throw new Error(`${new URL(url).pathname}: ${status}`);
    return this.get(new URL(location, url).href, redirects + 1);
  }

  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }

  #ask(url: string): Promise<{ status: number; location: string | undefined; bytes: Buffer }> {
    return new Promise((resolve, reject) => {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = cookie === '' ? {} : { cookie };
      const asked = request(url, { agent: this.#agent, headers }, (response) => {
        for (const line of response.headers['set-cookie'] ?? []) {
          const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
          this.#cookies.set(name, value);
        }
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            location: response.headers.location,
            bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces),
          }),
        );
      });
      asked.once('error', reject);
      asked.end();
    });
  }
}
