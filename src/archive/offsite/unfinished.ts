import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';

/** An upload in parts that is under way. */
export type Upload = {
  readonly object: string;
  readonly uploadId: string;
  /** Of what file: its inode, size and times, as text. */
  readonly source: string;
};

const stored = z.object({ object: z.string(), uploadId: z.string().min(1), source: z.string() });

/** Remembers it over restarts. Where that is lost, it is begun anew. */
export class Unfinished {
  readonly #path: string;
  #current: Upload | null;

  constructor(path: string) {
    this.#path = path;
    this.#current = this.#read();
  }

  get current(): Upload | null {
    return this.#current;
  }

  set(upload: Upload | null): void {
    this.#current = upload;
    if (upload === null) {
      rmSync(this.#path, { force: true });
      return;
    }
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(`${this.#path}.new`, JSON.stringify(upload), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }

  #read(): Upload | null {
    try {
      return stored.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
    } catch {
      return null;
    }
  }
}
