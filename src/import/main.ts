import { readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AppError, messageOf } from '../base/errors.js';
import { redactUrl } from '../rtsp/url.js';
import { makeCamera } from './make-camera.js';
import { MAX_FILE_BYTES } from './peer-yaml.js';
import type { CameraBody, Plan } from './plan.js';
import { readPeer } from './read-peer.js';

const EXIT_REFUSED = 1;
const EXIT_BAD_USE = 2;

/** Names are the file's: none may steer the terminal. */
const say = (line: string): void => {
  process.stdout.write(`${line.replaceAll(/\p{C}/gu, '?')}\n`);
};

const shown = ({ url, sub_url, ...rest }: CameraBody): string =>
  JSON.stringify({ ...rest, url: redactUrl(url), ...(sub_url ? { sub_url: redactUrl(sub_url) } : {}) });

/** How many were not made. What the first one shows to be wrong with the call is thrown. */
const apply = async ({ cameras }: Plan, server: URL, token: string): Promise<number> => {
  let notMade = 0;
  for (const [index, body] of cameras.entries()) {
    try {
      await makeCamera(server, token, body);
      say(`${body.id}: made`);
    } catch (fault) {
      const isHopeless = !(fault instanceof AppError) || fault.code !== 'camera_refused';
      if (isHopeless && index === 0) throw fault;
      notMade++;
      say(`${body.id}: refused: ${messageOf(fault)}`);
      if (!isHopeless) continue;
      const left = cameras.length - index - 1;
      say(`not tried: ${left} more`);
      return notMade + left;
    }
  }
  return notMade;
};

/** Never repeats what it was given: a password may stand in it. */
const serverOf = (text: string | undefined): URL => {
  const server = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  if (server === undefined || !/^https?:$/.test(server.protocol) || server.username + server.password !== '')
    throw new Error('--apply needs --server with the address of the service, such as http://127.0.0.1:8080');
  return server;
};

const run = async (): Promise<number> => {
  const options = { apply: { type: 'boolean' }, server: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new Error('name one file');
  const token = process.env['FRAMERING_TOKEN'] ?? '';
  const server = values.apply ? serverOf(values.server) : undefined;
  // RFC 6750, section 2.1: nothing else can stand in a token.
  if (server !== undefined && !/^[\w.~+/-]+=*$/.test(token))
    throw new Error('--apply needs an access token in FRAMERING_TOKEN');
  if (statSync(file).size > MAX_FILE_BYTES) throw new Error('the file is too large');
  const plan = readPeer(readFileSync(file, 'utf8'));
  for (const { where, why } of plan.leftOut) say(`left out: ${where}: ${why}`);
  if (plan.cameras.length === 0) say('no camera to make');
  if (server !== undefined) return (await apply(plan, server, token)) === 0 ? 0 : EXIT_REFUSED;
  for (const camera of plan.cameras) say(shown(camera));
  return 0;
};

try {
  process.exitCode = await run();
} catch (fault) {
  process.stderr.write(`nothing was imported: ${messageOf(fault)}\n`);
  process.exitCode = EXIT_BAD_USE;
}
