import { createHmac, randomBytes } from 'node:crypto';

/** Standard Webhooks 1.0, "Signature scheme": between 24 and 64 bytes, written as base64 behind a prefix. */
const PREFIX = 'whsec_';
const MIN_BYTES = 24;
const MAX_BYTES = 64;
const MADE_BYTES = 32;

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64');

/** A secret that nobody has had. */
export const newSecret = (): string => PREFIX + randomBytes(MADE_BYTES).toString('base64');

/** Whether a text is a secret that messages can be signed with. */
export const isSecret = (text: string): boolean => {
  const key = keyOf(text);
  const isExact = text === PREFIX + key.toString('base64');
  return isExact && key.length >= MIN_BYTES && key.length <= MAX_BYTES;
};

/** The headers by which a receiver knows who sent a body, and when: none of the three can be changed alone. */
export const signedHeaders = (
  secret: string,
  { messageId, wallMs, body }: { readonly messageId: string; readonly wallMs: number; readonly body: string },
): Record<string, string> => {
  const timestamp = String(Math.floor(wallMs / 1000));
  const mac = createHmac('sha256', keyOf(secret)).update(`${messageId}.${timestamp}.${body}`);
  return {
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${mac.digest('base64')}`,
  };
};
