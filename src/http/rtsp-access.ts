import { randomUUID } from 'node:crypto';
import type { Accounts } from '../auth/accounts.js';
import { isKey } from '../auth/api-keys.js';
import { BasicLogins } from '../auth/basic-logins.js';
import type { OnvifPasswords } from '../auth/onvif-passwords.js';
import type { Tokens } from '../auth/tokens.js';
import { AppError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { RtspAccess, Shown } from '../live/rtsp/admission.js';
import { AuditNote } from './audit.js';
import type { LoginDeps } from './routes/login.js';
import type { StreamSources } from './schemas.js';
import type { StreamAccess } from './stream-access.js';

export type RtspAccessDeps = {
  readonly streams: StreamAccess;
  readonly sources: StreamSources;
  readonly accounts: Pick<Accounts, 'login' | 'has'>;
  readonly tokens: Pick<Tokens, 'verifyAccess' | 'issueStream'>;
  /** Of keys; null: no recorder was given any. */
  readonly onvifPasswords: Pick<OnvifPasswords, 'login'> | null;
  readonly audit: Logger;
  readonly onLoginFailure: LoginDeps['onLoginFailure'];
};

/** A login as the audit log has it, whichever way it comes. */
const audited =
  ({ accounts, audit, onLoginFailure }: RtspAccessDeps): Accounts['login'] =>
  async (username, password, clientAddress) => {
    const note = new AuditNote(audit, 'login', { principal: null, clientAddress, requestId: randomUUID() });
    // A name that nobody has may be a password in the wrong field.
    if (accounts.has(username)) note.add({ user: username });
    try {
      const token = await accounts.login(username, password, clientAddress);
      note.done();
      return token;
    } catch (fault) {
      const code = fault instanceof AppError ? fault.code : '';
      const isWrong = code === 'bad_credentials';
      if (isWrong || code === 'too_many_attempts') {
        onLoginFailure(isWrong ? 'credentials' : 'limited');
        note.failed(code);
      }
      throw fault;
    }
  };

/** Who may watch over RTSP: whom the rule of all streams lets in, by a token, or by a name and a password. */
export const createRtspAccess = (deps: RtspAccessDeps): RtspAccess => {
  const { streams, sources, tokens } = deps;
  const logins = new BasicLogins({ accounts: { login: audited(deps) }, tokens });
  /** A key does in the place of a password, whatever the name. */
  const shownToken = ({ token, login }: Shown): string | null =>
    token ?? (login !== null && isKey(login.password) ? login.password : null);
  const onvifToken = ({ login }: Shown, cameraId: string): string | null => {
    const who = login && (deps.onvifPasswords?.login(login.username, login.password) ?? null);
    return who && tokens.issueStream(who, cameraId);
  };
  const tokenOf = async (shown: Shown, cameraId: string): Promise<string | null> => {
    const token = shownToken(shown) ?? onvifToken(shown, cameraId);
    const { login, address } = shown;
    return token !== null || login === null
      ? token
      : await logins.tokenFor(login.username, login.password, address);
  };
  return async (cameraId, stream, shown) => {
    const token = streams.asksForToken(cameraId) ? await tokenOf(shown, cameraId) : shownToken(shown);
    const place = streams.connectBy(token, cameraId, 'live.watch', shown.address);
    return { place, source: sources.sourceOf(cameraId, stream) };
  };
};
