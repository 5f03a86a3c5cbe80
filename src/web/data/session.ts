import { computed, effect, signal, untracked } from '@preact/signals';
import type { Permission } from '../../auth/permissions.js';
import { Problem } from './problem.js';
import { type Method, type RequestOptions, request } from './request.js';
import { deviceStorage } from './storage.js';

export type Me = {
  readonly username: string;
  readonly role: 'viewer' | 'operator' | 'admin' | 'service';
  readonly permissions: readonly Permission[];
  readonly time_zone: string;
  /** That of a cluster that answers; absent: it is alone. */
  readonly box?: string;
  readonly must_change_password: boolean;
};

/** `unknown`: not asked yet, or nobody answered; `ended`: who was signed in a moment ago, and finds all as it was. */
export type Session =
  | { readonly state: 'unknown' | 'out' }
  | { readonly state: 'in'; readonly me: Me }
  /** `why`: in the service's words, where it isn't simply over. */
  | { readonly state: 'ended'; readonly me: Me; readonly why: string | null };

/** Who sits before this page. */
export const session = signal<Session>({ state: 'unknown' });

export const me = computed(() => ('me' in session.value ? session.value.me : null));

/** Called when somebody else is signed in, or nobody any more: what was known of the one before is to be forgotten. */
export const onAnotherUser = (forget: () => void): void => {
  let known: string | null = null;
  effect(() => {
    const name = me.value?.username ?? null;
    if (known !== null && name !== known) untracked(forget);
    known = name;
  });
};

/** What may not be done is neither shown nor asked for. */
export const may = (permission: Permission): boolean => me.value?.permissions.includes(permission) ?? false;

/** Access tokens are good for an hour, and are kept in this page's memory alone. */
let token = '';
let renewing: Promise<void> | null = null;
let renewTimer: ReturnType<typeof setTimeout> | undefined;
let tokenSinceMs = 0;
/** Long before its end, so that a nap of the machine in between does no harm. */
const RENEW_AFTER_MS = 40 * 60_000;
const RENEW_AGAIN_AFTER_MS = 60_000;
/** One that is older may end before it is used; timers stand still while the machine sleeps. */
const GOOD_FOR_MS = 55 * 60_000;
/** Whoever opens a page waits for this. */
const RESUME_WITHIN_MS = 10_000;

/**
 * Whether this browser may hold a session: its cookie can't be seen from here, and asking in vain at every first visit
 * would be told as an error. Where storage is refused the service is asked.
 */
export const SIGNED_IN = 'signed-in';

const keep = (given: string): void => {
  token = given;
  tokenSinceMs = Date.now();
  renewIn(RENEW_AFTER_MS);
};

const renewIn = (afterMs: number): void => {
  clearTimeout(renewTimer);
  renewTimer = setTimeout(() => void renew().catch(() => {}), afterMs);
};

const forget = (): void => {
  token = '';
  deviceStorage.set(SIGNED_IN, null);
  clearTimeout(renewTimer);
};

/** The page stays as it is, behind the form. */
const end = (why: string | null = null): void => {
  const value = session.peek();
  forget();
  session.value = 'me' in value ? { state: 'ended', me: value.me, why } : { state: 'out' };
};

/** Nobody is signed in: the form, and nothing else. */
export const leave = (): void => {
  forget();
  session.value = { state: 'out' };
};

const isNoSession = (fault: unknown): boolean => fault instanceof Problem && fault.status === 401;

/** What stands between may make requests look like those of other pages: that doesn't get better by itself. */
const isForbidden = (fault: unknown): fault is Problem => fault instanceof Problem && fault.status === 403;

/** Another access token by the browser's cookie; callers at the same time share one. */
const renew = (timeoutMs?: number): Promise<void> => {
  renewing ??= (async () => {
    try {
      const answer = await request('POST', '/api/session', timeoutMs === undefined ? {} : { timeoutMs });
      keep(((await answer.json()) as { token: string }).token);
      // Another tab may have signed in as somebody else: the cookie is theirs now.
      if (session.peek().state === 'in') void enter().catch(() => {});
    } catch (fault) {
      if (isNoSession(fault)) end();
      else if (isForbidden(fault) && session.peek().state === 'in') end(fault.detail);
      else if (token !== '') renewIn(RENEW_AGAIN_AFTER_MS);
      throw fault;
    } finally {
      renewing = null;
    }
  })();
  return renewing;
};

const signedOut = (): Problem =>
  new Problem({ status: 401, code: 'session_ended', detail: 'you were signed out' });

const send = async (
  method: Method,
  path: string,
  options: Omit<RequestOptions, 'token'>,
): Promise<Response> => {
  // What goes on behind the form needn't ask in vain.
  if (session.peek().state === 'ended') throw signedOut();
  if (token === '') await renew();
  try {
    return await request(method, path, { ...options, token });
  } catch (fault) {
    if (!isNoSession(fault)) throw fault;
    await renew();
    return await request(method, path, { ...options, token });
  }
};

/** While it is under way the tokens of the old password end: what is asked meanwhile waits for the new one's. */
let changing: Promise<void> | null = null;

/** A request with the user's token; a token that has ended is renewed once. */
export const call = async (
  method: Method,
  path: string,
  options: Omit<RequestOptions, 'token'> = {},
): Promise<Response> => {
  await changing?.catch(() => {});
  return send(method, path, options);
};

/** The same where the answer is JSON. */
export const api = async <Answer>(
  method: Method,
  path: string,
  options: Omit<RequestOptions, 'token'> = {},
): Promise<Answer> => {
  const answer = await call(method, path, options);
  const text = await answer.text();
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
};

const enter = async (): Promise<void> => {
  const answer = await request('GET', '/api/me', { token, timeoutMs: RESUME_WITHIN_MS });
  const found = (await answer.json()) as Me;
  // Who signed out meanwhile stays so.
  if (token === '') return;
  session.value = { state: 'in', me: found };
  deviceStorage.set(SIGNED_IN, 'yes');
};

/** Looks who is signed in in this browser; throws a `Problem` when nobody answers, or not that. */
export const resume = async (): Promise<void> => {
  if (deviceStorage.get(SIGNED_IN) === null) return leave();
  try {
    await renew(RESUME_WITHIN_MS);
    await enter();
  } catch (fault) {
    if (!isNoSession(fault)) throw fault;
    if (session.peek().state === 'unknown') leave();
  }
};

export const signIn = async (username: string, password: string, isRemembered: boolean): Promise<void> => {
  const body = { username, password, remember: isRemembered };
  const answer = await request('POST', '/api/login', { body });
  keep(((await answer.json()) as { token: string }).token);
  await enter();
  firstPassword = me.peek()?.must_change_password === true ? password : null;
};

/** The printed password that was typed a moment ago, for whoever asks first to change it. */
let firstPassword: string | null = null;

export const takeFirstPassword = (): string | null => {
  const taken = firstPassword;
  firstPassword = null;
  return taken;
};

export const signOut = async (): Promise<void> => {
  try {
    const answer = await request('DELETE', '/api/session');
    // Read to its end, or the browser takes the request for one that goes on.
    await answer.text();
  } catch (fault) {
    if (!isNoSession(fault)) throw fault;
  }
  leave();
};

/** Another password for whoever is signed in, which ends the tokens of the old one. */
export const changePassword = async (old: string, wanted: string): Promise<void> => {
  await changing?.catch(() => {});
  changing = (async () => {
    const answer = await send('PUT', '/api/me/password', { body: { old, new: wanted } });
    keep(((await answer.json()) as { token: string }).token);
  })().finally(() => {
    changing = null;
  });
  await changing;
  await enter();
};

/** What the user is allowed or called may be another by now. */
export const refreshMe = async (): Promise<void> => {
  const found = await api<Me>('GET', '/api/me', { timeoutMs: RESUME_WITHIN_MS });
  // Who signed out meanwhile stays so.
  if (token !== '') session.value = { state: 'in', me: found };
};

/** Whether this browser is still signed in, after something that may have ended it: if not, the form appears. */
export const checkSession = async (): Promise<void> => {
  await renew().catch(() => {});
};

/** For the workers that read streams: a token that is good now. */
export const accessToken = async (): Promise<string> => {
  await changing?.catch(() => {});
  const ageMs = Date.now() - tokenSinceMs;
  const isOld = ageMs < 0 || ageMs > GOOD_FOR_MS;
  if (token === '' || isOld)
    await renew().catch((fault: unknown) => {
      // It may be good for some minutes yet.
      if (token === '') throw fault;
    });
  return token;
};
