import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { WallMs } from '../../../base/clock.js';
import {
  derBitString,
  derExplicit0,
  derInteger,
  derObjectId,
  derSequence,
  derSet,
  derUtcTime,
  derUtf8,
} from './der.js';

/** What proves a DTLS endpoint's identity: browsers know it by the fingerprint that the answer carries. */
export type DtlsCertificate = {
  readonly certPem: string;
  readonly keyPem: string;
  /** SHA-256 of the certificate, as SDP writes it (RFC 8122 §5). */
  readonly fingerprint: string;
};

const DAY_MS = 86_400_000;
/** Browsers look at the fingerprint alone; a service that runs for years must not outlive its certificate. */
const LIFETIME_MS = 20 * 365 * DAY_MS;

const ecdsaWithSha256 = derSequence(derObjectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const commonName = derObjectId(0x55, 0x04, 0x03);

const pemOf = (der: Buffer): string => {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
};

/** SHA-256 of a certificate as upper-case hex pairs with colons between them. */
export const fingerprintOf = (der: Buffer): string =>
  createHash('sha256').update(der).digest('hex').toUpperCase().match(/../g)!.join(':');

/** Makes a self-signed certificate on the curve P-256 (X.509 version 3, RFC 5280 §4.1). */
export const makeCertificate = (wallMs: WallMs): DtlsCertificate => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = derSequence(derSet(derSequence(commonName, derUtf8('framering'))));
  // A day back: a viewer's clock may be behind ours.
  const validity = derSequence(derUtcTime(wallMs - DAY_MS), derUtcTime(wallMs + LIFETIME_MS));
  const toBeSigned = derSequence(
    derExplicit0(derInteger(Buffer.of(2))), // version 3
    derInteger(Buffer.concat([Buffer.of(1), randomBytes(8)])), // serialNumber
    ecdsaWithSha256, // signature
    name, // issuer
    validity,
    name, // subject
    publicKey.export({ type: 'spki', format: 'der' }), // subjectPublicKeyInfo
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const der = derSequence(toBeSigned, ecdsaWithSha256, derBitString(signature));
  const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { certPem: pemOf(der), keyPem, fingerprint: fingerprintOf(der) };
};
