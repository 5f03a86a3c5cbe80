import { AppError } from '../base/errors.js';
import type { CameraBody } from './plan.js';

const ANSWER_MS = 30_000;
const MAX_ANSWER_BYTES = 65_536;
const MAX_REASON_CHARS = 1_000;
const STATUS_MADE = 201;
const STATUS_NO_TOKEN = 401;

/** `camera_refused`, or what no other camera would fare better with. */
export type MakeErrorCode = 'camera_refused' | 'token_refused' | 'no_answer';

const textOf = async (answer: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

/** The reason in the service's words (RFC 9457, section 3.1.4), where it gives one. */
const reasonOf = (status: number, text: string): string => {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    if (typeof detail === 'string' && detail !== '') return detail.slice(0, MAX_REASON_CHARS);
  } catch {
    // No problem document: the status has to do.
  }
  return `status ${status}`;
};

/** What fetch hides behind "fetch failed", such as ECONNREFUSED. */
const codeOf = (fault: unknown): string => {
  const { code } = ((fault as Error).cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? ` (${code})` : '';
};

/** Makes a camera in the service, or throws AppError of a `MakeErrorCode`, whose message holds no secret. */
export const makeCamera = async (server: URL, token: string, body: CameraBody): Promise<void> => {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(new URL('/api/cameras', server), {
      method: 'POST',
      redirect: 'error',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    text = await textOf(answer);
  } catch (fault) {
    throw new AppError<MakeErrorCode>('no_answer', `the service did not answer${codeOf(fault)}`);
  }
  if (answer.status === STATUS_MADE) return;
  // Whatever answers may repeat what it was sent.
  const secrets = [token, body.url, body.sub_url ?? ''].filter((secret) => secret !== '');
  const reason = secrets.reduce(
    (said, secret) => said.replaceAll(secret, '***'),
    reasonOf(answer.status, text),
  );
  const code = answer.status === STATUS_NO_TOKEN ? 'token_refused' : 'camera_refused';
  throw new AppError<MakeErrorCode>(code, reason);
};
