import { createHash, createHmac } from 'node:crypto';

/** What is signed of a request (AWS Signature Version 4, as S3 has it). */
export type Signable = {
  readonly method: string;
  /** As it goes over the wire: each level encoded once. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** All of them are signed; names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payloadHash: string;
};

export type Signer = {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
};

/** Of a body that TLS alone protects. */
export const UNSIGNED = 'UNSIGNED-PAYLOAD';
const ALGORITHM = 'AWS4-HMAC-SHA256';

export const sha256Hex = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text, 'utf8').digest();

/** RFC 3986: all but the unreserved characters are encoded. */
export const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** In the order of bytes, as a signature and the request line have it. */
export const queryText = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .sort()
    .join('&');

/** `20130524T000000Z`. */
export const amzDate = (wallMs: number): string =>
  new Date(wallMs).toISOString().replace(/[-:]|\.\d{3}/g, '');

/** The value of `Authorization`; the headers have `host` and `x-amz-date`. */
export const authorizationOf = (
  { method, path, query, headers, payloadHash }: Signable,
  { accessKey, secretKey, region }: Signer,
): string => {
  const time = headers['x-amz-date'] ?? '';
  const day = time.slice(0, 8);
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]!.trim().replace(/ +/g, ' ')}\n`).join('');
  const signed = names.join(';');
  const canonical = [method, path, queryText(query), lines, signed, payloadHash].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = [ALGORITHM, time, scope, sha256Hex(canonical)].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), 's3'), 'aws4_request');
  const signature = hmac(key, toSign).toString('hex');
  return `${ALGORITHM} Credential=${accessKey}/${scope},SignedHeaders=${signed},Signature=${signature}`;
};
