import { createHash } from 'node:crypto';
import type { Clock, Timer } from '../base/clock.js';
import { AppError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { type S3Address, s3Host } from '../base/s3-address.js';
import {
  bareEtag,
  completedEtagIn,
  errorIn,
  type ListedObject,
  type ListedUpload,
  objectsIn,
  type Page,
  partsIn,
  type UploadedPart,
  uploadIdIn,
  uploadsIn,
} from './answers.js';
import { isS3Error, s3Error } from './errors.js';
import { agentFor, exchange, type Incoming, type OutgoingBody, type Where } from './exchange.js';
import { amzDate, authorizationOf, encodeStrictly, queryText, sha256Hex, UNSIGNED } from './sign.js';

export type S3ClientDeps = {
  readonly clock: Clock;
  /** Who alone may sign for the store; null: those whom Node knows. */
  readonly ca?: Buffer | null;
  readonly log?: Pick<Logger, 'warn'>;
};

/** What an object is known by from outside. */
export type S3Object = {
  readonly bytes: number;
  readonly etag: string;
  /** What whoever put it said of where it is from; null: nothing. */
  readonly source: string | null;
};

const SOURCE_HEADER = 'x-amz-meta-source';
/** A digest or the like. */
const SOURCE = /^[A-Za-z0-9]{1,128}$/;

/** While nothing goes on. */
const SILENCE_MS = 30_000;
/** A store that puts gigabytes together may take its time, and so may one behind a proxy that takes a body at once. */
const TAKING_MS = 180_000;
/** However much goes on: while something is sent, and else. */
const LONGEST_MS = 3_600_000;
const LONGEST_ASKING_MS = 600_000;
/** Of answers that are XML: a list of a thousand names that are as long as can be has 2 MB. */
const MAX_XML_BYTES = 4 << 20;
/** More of these is a joke: S3 knows 10 000 parts. */
const MAX_PAGES = 16;

type Ask = {
  readonly method: string;
  /** Without the prefix; "": the bucket itself. */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: OutgoingBody;
  readonly maxBytes?: number;
  readonly silenceMs?: number;
  readonly signal?: AbortSignal | undefined;
};

const wordsOfStatus = (status: number, code: string): string =>
  code === '' ? `answered ${status}` : `answered ${status} ${code}`;

/** What a store says may repeat who asked, and how that was signed. */
const struck = (text: string, accessKey: string): string =>
  text.replaceAll(accessKey, '…').replaceAll(/(Signature=)[^\s,&;]*/gi, '$1…');

/** What an answer that is no success means. */
const refusalOf = (method: string, { status, headers, body }: Incoming, accessKey: string): Error => {
  const { code, ...said } = errorIn(body);
  const [s3_code, message] = [struck(code, accessKey), struck(said.message, accessKey)];
  const words = wordsOfStatus(status, s3_code);
  const details = { status, s3_code };
  if (code === 'RequestTimeTooSkewed')
    return s3Error(
      's3_clock',
      'the clock of this machine and that of the store differ by more than 15 minutes: set it right',
      { details },
    );
  if (status >= 300 && status < 400) {
    const region = /^[a-z0-9-]{1,64}$/.exec(String(headers['x-amz-bucket-region'] ?? ''))?.[0];
    const hint = region === undefined ? '' : `; the bucket is in region=${region}`;
    return s3Error('s3_refused', `the store ${words}, and redirects are not followed${hint}`, { details });
  }
  if (code === 'BadDigest' || code === 'XAmzContentSHA256Mismatch' || code === 'InvalidDigest')
    return s3Error('s3_damaged', 'what was sent to the store arrived otherwise', { details });
  if (status === 404 && code === 'NoSuchBucket')
    return s3Error('s3_refused', 'the store has no such bucket', { details });
  // Whatever stands before a store that isn't there says so, too, of all that it is asked for.
  if (status === 404 && method !== 'HEAD' && !code.startsWith('NoSuch'))
    return s3Error('s3_unavailable', `the store ${words}, and not of what`, { details });
  if (status === 404) return s3Error('s3_not_found', `the store ${words}`, { details });
  if (status === 412 || (status === 409 && code === 'ConditionalRequestConflict'))
    return s3Error('s3_taken', 'there is an object of this name already', { details });
  const isTrouble = status >= 500 || status === 429 || status === 408 || code === 'RequestTimeout';
  return s3Error(
    isTrouble ? 's3_unavailable' : 's3_refused',
    `the store ${words}${message === '' ? '' : `: ${message}`}`,
    { details },
  );
};

const isNotImplemented = (fault: unknown): boolean =>
  fault instanceof AppError && fault.details['s3_code'] === 'NotImplemented';

const lengthIn = ({ headers }: Incoming): number => {
  const text = String(headers['content-length'] ?? '');
  if (!/^\d{1,15}$/.test(text)) throw s3Error('s3_bad_answer', "the store doesn't say how long an object is");
  return Number(text);
};

const etagIn = ({ headers }: Incoming): string => bareEtag(String(headers['etag'] ?? ''));

const sourceIn = ({ headers }: Incoming): string | null =>
  SOURCE.exec(String(headers[SOURCE_HEADER] ?? ''))?.[0] ?? null;

const withSource = (source: string | undefined): Record<string, string> =>
  source === undefined ? {} : { [SOURCE_HEADER]: source };

const md5Base64 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('base64');

/** Objects of one bucket below one prefix. Each request is bounded in time, and its answer in size. */
export class S3Client {
  readonly #address: S3Address;
  readonly #clock: Clock;
  readonly #where: Where;
  readonly #agent: ReturnType<typeof agentFor>;
  readonly #log: Pick<Logger, 'warn'> | null;
  /** It sees to it by itself that what is new replaces nothing. */
  #knowsConditions = true;

  constructor(address: S3Address, { clock, ca = null, log }: S3ClientDeps) {
    this.#log = log ?? null;
    this.#address = address;
    this.#clock = clock;
    const { isTls, host, port } = address;
    this.#where = { isTls, host, port, ca };
    this.#agent = agentFor(this.#where);
  }

  /** Ends the connections that are left. */
  close(): void {
    this.#agent.destroy();
  }

  /** Puts an object whole; throws `s3_taken` where there is one, unless it may be replaced. */
  async put(
    name: string,
    body: OutgoingBody,
    options: { readonly mayReplace?: boolean; readonly source?: string; readonly signal?: AbortSignal } = {},
  ): Promise<string> {
    const headers = withSource(options.source);
    return etagIn(await this.#make({ method: 'PUT', name, headers, body, signal: options.signal }, options));
  }

  async createUpload(
    name: string,
    options: { readonly source?: string; readonly signal?: AbortSignal } = {},
  ): Promise<string> {
    const headers = withSource(options.source);
    const query = { uploads: '' };
    const { body } = await this.#ask({ method: 'POST', name, query, headers, signal: options.signal });
    return uploadIdIn(body);
  }

  /** Puts one part of it; its ETag. */
  async uploadPart(
    name: string,
    uploadId: string,
    partNumber: number,
    body: OutgoingBody,
    signal?: AbortSignal,
  ): Promise<string> {
    const query = { partNumber: String(partNumber), uploadId };
    return etagIn(await this.#ask({ method: 'PUT', name, query, body, signal }));
  }

  /** The parts that are there, in their order; throws `s3_not_found` where the store knows no such upload. */
  async listParts(name: string, uploadId: string, signal?: AbortSignal): Promise<UploadedPart[]> {
    return this.#pages(async (marker: number | null) => {
      const from = marker === null ? {} : { 'part-number-marker': String(marker) };
      return partsIn((await this.#ask({ method: 'GET', name, query: { uploadId, ...from }, signal })).body);
    });
  }

  /** Makes an object of the parts; its ETag. */
  async completeUpload(
    name: string,
    uploadId: string,
    parts: readonly { readonly number: number; readonly etag: string }[],
    options: { readonly mayReplace?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<string> {
    const listed = parts.map(
      ({ number, etag }) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>&quot;${etag.replaceAll(/[<&>"]/g, '')}&quot;</ETag></Part>`,
    );
    const bytes = Buffer.from(`<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`);
    const ask = { method: 'POST', name, query: { uploadId }, body: { bytes }, silenceMs: TAKING_MS };
    const { body } = await this.#make({ ...ask, signal: options.signal }, options);
    return completedEtagIn(body);
  }

  /** What is not there needn't be ended. */
  async abortUpload(name: string, uploadId: string, signal?: AbortSignal): Promise<void> {
    await this.#remove({ method: 'DELETE', name, query: { uploadId }, signal });
  }

  /** Uploads that were begun; a thousand at most. */
  async listUploads(signal?: AbortSignal): Promise<ListedUpload[]> {
    const query = { uploads: '', prefix: this.#address.prefix, 'encoding-type': 'url' };
    const { body } = await this.#ask({ method: 'GET', name: '', query, signal });
    return uploadsIn(body).flatMap((upload) => this.#ofOurs(upload));
  }

  /** Null: there is none. */
  async head(name: string, signal?: AbortSignal): Promise<S3Object | null> {
    const answer = await this.#askUnlessGone({ method: 'HEAD', name, signal }).catch(async (fault) => {
      // An answer to that has no room for what is wrong, which may be the clock.
      if (isS3Error(fault, 's3_refused')) await this.list(name, signal === undefined ? {} : { signal });
      throw fault;
    });
    return answer && { bytes: lengthIn(answer), etag: etagIn(answer), source: sourceIn(answer) };
  }

  /** Bytes [startByte, endByte) of an object; throws `s3_not_found`. */
  async read(name: string, startByte: number, endByte: number, signal?: AbortSignal): Promise<Buffer> {
    const lengthBytes = endByte - startByte;
    if (lengthBytes <= 0) return Buffer.alloc(0);
    const headers = { range: `bytes=${startByte}-${endByte - 1}` };
    const { status, body } = await this.#ask({
      ...{ method: 'GET', name, headers, maxBytes: lengthBytes, signal },
    });
    if (status !== 206 && startByte > 0) throw s3Error('s3_bad_answer', 'the store knows no ranges');
    if (body.length !== lengthBytes)
      throw s3Error('s3_bad_answer', 'the store answers with less than was asked for');
    return body;
  }

  /** A page of the objects whose names begin so. */
  async list(
    beginning: string,
    options: {
      readonly after?: string | null;
      /** Names up to this one are left out. */
      readonly behind?: string;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<Page<ListedObject, string>> {
    const after = options.after ?? null;
    const query = {
      'list-type': '2',
      prefix: this.#address.prefix + beginning,
      'encoding-type': 'url',
      ...(options.behind === undefined ? {} : { 'start-after': this.#address.prefix + options.behind }),
      ...(after === null ? {} : { 'continuation-token': after }),
    };
    const { body } = await this.#ask({ method: 'GET', name: '', query, signal: options.signal });
    const { items, next } = objectsIn(body);
    if (next !== null && next === after) throw s3Error('s3_bad_answer', "the store's list has no end");
    return { items: items.flatMap((object) => this.#ofOurs(object)), next };
  }

  /** What is not there is as good as deleted. */
  async delete(name: string, signal?: AbortSignal): Promise<void> {
    await this.#remove({ method: 'DELETE', name, signal });
  }

  /** As it is called below the prefix; one that isn't below it is none of ours. */
  #ofOurs<Item extends { readonly name: string }>(item: Item): Item[] {
    const { prefix } = this.#address;
    return item.name.startsWith(prefix) ? [{ ...item, name: item.name.slice(prefix.length) }] : [];
  }

  /** Asks for what makes an object. Some stores know no conditions: they are asked before whether there is one of that name. */
  async #make(ask: Ask, { mayReplace = false }: { readonly mayReplace?: boolean }): Promise<Incoming> {
    if (mayReplace) return this.#ask(ask);
    if (this.#knowsConditions)
      try {
        return await this.#ask({ ...ask, headers: { ...ask.headers, 'if-none-match': '*' } });
      } catch (fault) {
        if (!isNotImplemented(fault)) throw fault;
        this.#knowsConditions = false;
        this.#log?.warn(
          'the store knows no If-None-Match: no two may put objects of the same name there at once',
        );
      }
    if ((await this.head(ask.name, ask.signal)) !== null)
      throw s3Error('s3_taken', 'there is an object of this name already');
    return this.#ask(ask);
  }

  async #pages<Item>(page: (from: number | null) => Promise<Page<Item, number>>): Promise<Item[]> {
    const found: Item[] = [];
    let from: number | null = null;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const { items, next } = await page(from);
      found.push(...items);
      if (next === null) return found;
      if (next <= (from ?? 0)) break;
      from = next;
    }
    throw s3Error('s3_bad_answer', "the store's list has no end");
  }

  /** A page of whatever stands before the store is no word of that. */
  async #remove(ask: Ask): Promise<void> {
    const answer = await this.#askUnlessGone(ask);
    if (answer === null || answer.status === 204 || (answer.status === 200 && answer.body.length === 0))
      return;
    throw s3Error('s3_bad_answer', `the store answered ${answer.status} to a deletion, with something else`);
  }

  async #askUnlessGone(ask: Ask): Promise<Incoming | null> {
    try {
      return await this.#ask(ask);
    } catch (fault) {
      if ((fault as { code?: unknown }).code === 's3_not_found') return null;
      throw fault;
    }
  }

  async #ask(ask: Ask): Promise<Incoming> {
    const { method, query = {}, body } = ask;
    let silenceMs = ask.silenceMs ?? SILENCE_MS;
    const path = this.#pathOf(ask.name);
    const headers = this.#signed(ask, path);
    const queries = queryText(query);
    const ending = new AbortController();
    const end = (): void => ending.abort(ask.signal?.reason);
    const giveUp = (): void => ending.abort(s3Error('s3_unavailable', "the store doesn't answer in time"));
    let isOver = false;
    let silence: Timer = this.#clock.after(silenceMs, giveUp);
    const longest = this.#clock.after(body === undefined ? LONGEST_ASKING_MS : LONGEST_MS, giveUp);
    const goOn = (): void => {
      if (isOver) return;
      silence.cancel();
      silence = this.#clock.after(silenceMs, giveUp);
    };
    if (ask.signal?.aborted === true) end();
    else ask.signal?.addEventListener('abort', end);
    try {
      const answer = await exchange(
        {
          ...{ method, headers, signal: ending.signal, maxBytes: ask.maxBytes ?? MAX_XML_BYTES },
          ...(body === undefined ? {} : { body }),
          path: queries === '' ? path : `${path}?${queries}`,
          onProgress: goOn,
          onSent: () => {
            if (body !== undefined) silenceMs = TAKING_MS;
            goOn();
          },
        },
        this.#where,
        this.#agent,
      );
      if (answer.status < 200 || answer.status > 299)
        throw refusalOf(ask.method, answer, this.#address.accessKey);
      return answer;
    } finally {
      isOver = true;
      silence.cancel();
      longest.cancel();
      ask.signal?.removeEventListener('abort', end);
    }
  }

  #pathOf(name: string): string {
    const { bucket, prefix } = this.#address;
    const levels = name === '' ? [bucket] : [bucket, ...`${prefix}${name}`.split('/')];
    return `/${levels.map(encodeStrictly).join('/')}`;
  }

  /** Over TLS bodies needn't be signed; what arrives is compared to its MD5 by the store either way. */
  #signed({ method, query = {}, headers = {}, body }: Ask, path: string): Record<string, string> {
    const bytes = body?.bytes ?? new Uint8Array();
    const payloadHash = this.#address.isTls && bytes.length > 0 ? UNSIGNED : sha256Hex(bytes);
    const hasBody = method === 'PUT' || body !== undefined;
    const all = {
      host: s3Host(this.#address),
      'x-amz-content-sha256': payloadHash,
      'x-amz-date': amzDate(this.#clock.wallMs()),
      ...(hasBody ? { 'content-length': String(bytes.length), 'content-md5': md5Base64(bytes) } : {}),
      ...headers,
    };
    const signable = { method, path, query, headers: all, payloadHash };
    return { ...all, authorization: authorizationOf(signable, this.#address) };
  }
}
