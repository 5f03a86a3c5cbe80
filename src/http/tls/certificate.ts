import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { ipv6Groups } from '../../base/client-address.js';
import {
  bitString,
  boolean,
  integer,
  objectId,
  octetString,
  sequence,
  setOf,
  tagged,
  taggedBytes,
  time,
  utf8String,
} from './der.js';

/** Whom a certificate is for. */
export type CertifiedNames = { readonly hosts: readonly string[]; readonly addresses: readonly string[] };

const ids = {
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const;

/** RFC 5280, appendix A: upper bound of a common name. */
const MAX_NAME_CHARACTERS = 64;
const SERIAL_BYTES = 16;
const KEY_ID_BYTES = 20;

const addressBytes = (address: string): Buffer => {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const bytes = Buffer.alloc(16);
  for (const [index, group] of (ipv6Groups(address) ?? []).entries()) bytes.writeUInt16BE(group, 2 * index);
  return bytes;
};

const nameOf = (text: string): Buffer =>
  sequence(
    setOf(sequence(objectId(ids.commonName), utf8String([...text].slice(0, MAX_NAME_CHARACTERS).join('')))),
  );

const extension = (id: string, isCritical: boolean, content: Buffer): Buffer =>
  sequence(objectId(id), ...(isCritical ? [boolean(true)] : []), octetString(content));

/** RFC 5280, section 4.2.1.6: dNSName and iPAddress. */
const altNames = ({ hosts, addresses }: CertifiedNames): Buffer =>
  sequence(
    ...hosts.map((host) => taggedBytes(2, Buffer.from(host, 'latin1'))),
    ...addresses.map((address) => taggedBytes(7, addressBytes(address))),
  );

/** Section 4.2.1.10: those very names, and no others; an address has its mask. */
const permittedNames = ({ hosts, addresses }: CertifiedNames): Buffer =>
  sequence(
    tagged(
      0,
      ...hosts.map((host) => sequence(taggedBytes(2, Buffer.from(host, 'latin1')))),
      ...addresses.map((address) => {
        const bytes = addressBytes(address);
        return sequence(taggedBytes(7, Buffer.concat([bytes, Buffer.alloc(bytes.length, 0xff)])));
      }),
    ),
  );

/** Bits are counted from the left: digitalSignature is 0, keyCertSign 5. */
const SIGN_AND_CERTIFY = bitString(Buffer.of(0b1000_0100), 2);

/**
 * Phones take nothing as trusted that isn't an authority, so it is one: for its own names alone, in case that its key
 * is stolen. That isn't marked critical, since small TLS libraries refuse what is and they don't know.
 */
const extensionsOf = (names: CertifiedNames, keyId: Buffer): Buffer =>
  sequence(
    extension(ids.basicConstraints, true, sequence(boolean(true), integer(Buffer.of(0)))),
    extension(ids.keyUsage, true, SIGN_AND_CERTIFY),
    extension(ids.extendedKeyUsage, false, sequence(objectId(ids.serverAuth))),
    extension(ids.subjectAltName, false, altNames(names)),
    extension(ids.nameConstraints, false, permittedNames(names)),
    extension(ids.subjectKeyIdentifier, false, octetString(keyId)),
  );

const pemOf = (label: string, der: Buffer): string => {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
};

/** A key, and a certificate (RFC 5280) that it signs for itself, as PEM. */
export const makeCertificate = (
  title: string,
  names: CertifiedNames,
  validity: { readonly fromMs: number; readonly toMs: number },
): { readonly cert: Buffer; readonly key: Buffer } => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const publicInfo = publicKey.export({ type: 'spki', format: 'der' });
  const serial = randomBytes(SERIAL_BYTES);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  // RFC 7093, section 2: of a newer hash than SHA-1, as many bytes as that had.
  const keyId = createHash('sha256').update(publicInfo).digest().subarray(0, KEY_ID_BYTES);
  const algorithm = sequence(objectId(ids.ecdsaWithSha256));
  const version3 = tagged(0, integer(Buffer.of(2)));
  const subject = nameOf(title);
  const toBeSigned = sequence(
    version3,
    integer(serial),
    algorithm,
    subject,
    sequence(time(validity.fromMs), time(validity.toMs)),
    subject,
    publicInfo,
    tagged(3, extensionsOf(names, keyId)),
  );
  const signature = bitString(sign('sha256', toBeSigned, privateKey));
  return {
    cert: Buffer.from(pemOf('CERTIFICATE', sequence(toBeSigned, algorithm, signature))),
    key: Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
};
